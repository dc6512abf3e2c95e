package dev.pgapply.schema.postgres;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.pgapply.schema.SchemaException.ConnectionFailed;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

final class PostgresConnectorTest {

    /// B088: no connection, and no hope of one, looks like this for ever.
    @Test
    @Timeout(value = 30, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void aServerThatFallsSilentAfterTheLoginIsGivenUp() throws IOException {
        try (ServerSocket listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            Thread.ofPlatform().daemon().start(() -> logInAndFallSilent(listener));
            PostgresEndpoint endpoint = new PostgresEndpoint(
                    List.of(new PostgresEndpoint.Host("127.0.0.1", listener.getLocalPort())),
                    "db",
                    "postgres",
                    Optional::empty,
                    Map.of("loginTimeout", "1", "sslmode", "disable", "gssEncMode", "disable"));
            PostgresConnector connector = new PostgresConnector(endpoint, "test");
            ConnectionFailed lost =
                    assertThrows(ConnectionFailed.class, () -> connector.open(SessionProfile.SOURCE_CONTROL));
            assertEquals(ConnectionFailed.Kind.LOST, lost.kind());
        }
    }

    private static void logInAndFallSilent(ServerSocket listener) {
        try (Socket client = listener.accept()) {
            DataInputStream in = new DataInputStream(client.getInputStream());
            in.skipNBytes(in.readInt() - 4L);
            DataOutputStream out = new DataOutputStream(client.getOutputStream());
            out.write(message('R', new byte[4]));
            for (String status : List.of(
                    "server_version\0" + "18.0",
                    "server_encoding\0UTF8",
                    "client_encoding\0UTF8",
                    "DateStyle\0ISO, MDY",
                    "standard_conforming_strings\0on",
                    "integer_datetimes\0on",
                    "TimeZone\0UTC")) {
                out.write(message('S', (status + "\0").getBytes(StandardCharsets.US_ASCII)));
            }
            out.write(message('K', new byte[8]));
            out.write(message('Z', new byte[] {'I'}));
            while (in.read() >= 0) {
                // Reads on until the client goes, and says nothing.
            }
        } catch (IOException e) {
            // The client is gone.
        }
    }

    private static byte[] message(char type, byte[] body) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(bytes);
        out.writeByte(type);
        out.writeInt(body.length + 4);
        out.write(body);
        return bytes.toByteArray();
    }
}
