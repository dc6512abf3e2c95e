package dev.pgapply.apply.target.postgres;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/// What a client has sent, message by message; fails where the framing is broken.
record ClientMessages(List<Message> messages) {

    static final class Message {
        private final char type;
        private final byte[] body;

        Message(char type, byte[] body) {
            this.type = type;
            this.body = body;
        }

        char type() {
            return type;
        }

        byte[] body() {
            return body;
        }

        String text() {
            return new String(body, StandardCharsets.ISO_8859_1);
        }
    }

    static ClientMessages of(byte[] sent) {
        ByteBuffer in = ByteBuffer.wrap(sent);
        List<Message> messages = new ArrayList<>();
        while (in.hasRemaining()) {
            char type = (char) in.get();
            byte[] body = new byte[in.getInt() - 4];
            in.get(body);
            messages.add(new Message(type, body));
        }
        return new ClientMessages(messages);
    }

    /// The types in order, like `PBES`.
    String types() {
        StringBuilder types = new StringBuilder();
        messages.forEach(message -> types.append(message.type()));
        return types.toString();
    }

    List<Message> ofType(char type) {
        return messages.stream().filter(message -> message.type() == type).toList();
    }
}
