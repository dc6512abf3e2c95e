package dev.pgapply.apply.target.postgres;

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// What a server answers, written down in advance.
final class ServerScript {

    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    private final List<Integer> pauses = new ArrayList<>();

    ServerScript parsed() {
        return message('1', new byte[0]);
    }

    ServerScript bound() {
        return message('2', new byte[0]);
    }

    ServerScript closed() {
        return message('3', new byte[0]);
    }

    ServerScript copyIn() {
        return message('G', new byte[] {1, 0, 0});
    }

    ServerScript done(String commandTag) {
        return message('C', text(commandTag + '\0'));
    }

    /// BindComplete and CommandComplete.
    ServerScript ran(String commandTag) {
        return bound().done(commandTag);
    }

    ServerScript ready(char transactionStatus) {
        return readyAtOnceWith(transactionStatus, new ServerScript());
    }

    /// ReadyForQuery, with more in the same packet.
    ServerScript readyAtOnceWith(char transactionStatus, ServerScript more) {
        message('Z', new byte[] {(byte) transactionStatus});
        bytes.writeBytes(more.bytes());
        pauses.add(bytes.size());
        return this;
    }

    ServerScript notice(String text) {
        return message('N', text("SNOTICE\0VNOTICE\0C00000\0M" + text + "\0\0"));
    }

    ServerScript parameterStatus() {
        return message('S', text("TimeZone\0UTC\0"));
    }

    ServerScript notification() {
        return message('A', text("\0\0\0\1channel\0payload\0"));
    }

    ServerScript error(String sqlState, String text) {
        return message(
                'E',
                text("SFEHLER\0VERROR\0C" + sqlState + "\0M" + text
                        + "\0DKey (id)=(7) exists.\0spublic\0tplace\0nplace_pkey\0Ffile.c\0L12\0Rroutine\0\0"));
    }

    ServerScript fatal(String sqlState, String text) {
        return message('E', text("SFATAL\0VFATAL\0C" + sqlState + "\0M" + text + "\0\0"));
    }

    /// A DataRow; null is an SQL NULL.
    ServerScript row(@Nullable String... values) {
        ByteArrayOutputStream body = new ByteArrayOutputStream();
        try (DataOutputStream out = new DataOutputStream(body)) {
            out.writeShort(values.length);
            for (@Nullable String value : values) {
                if (value == null) {
                    out.writeInt(-1);
                } else {
                    byte[] content = text(value);
                    out.writeInt(content.length);
                    out.write(content);
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return message('D', body.toByteArray());
    }

    ServerScript message(char type, byte[] body) {
        return raw(type, body.length + 4, body);
    }

    ServerScript raw(int type, int length, byte[] body) {
        bytes.write(type);
        bytes.write(length >>> 24);
        bytes.write(length >>> 16);
        bytes.write(length >>> 8);
        bytes.write(length);
        bytes.writeBytes(body);
        return this;
    }

    /// A stream that pauses after each ReadyForQuery, as a server does.
    InputStream stream() {
        byte[] all = bytes();
        return new InputStream() {
            private int position;

            @Override
            public int read() {
                return position == all.length ? -1 : all[position++] & 0xff;
            }

            @Override
            public int read(byte[] target, int offset, int length) {
                int end = pauses.stream()
                        .filter(pause -> pause > position)
                        .findFirst()
                        .orElse(all.length);
                int part = Math.min(length, end - position);
                System.arraycopy(all, position, target, offset, part);
                position += part;
                return part == 0 ? -1 : part;
            }
        };
    }

    byte[] bytes() {
        return bytes.toByteArray();
    }

    private static byte[] text(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
