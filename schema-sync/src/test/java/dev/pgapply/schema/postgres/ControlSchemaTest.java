package dev.pgapply.schema.postgres;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;

import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

final class ControlSchemaTest {

    @Test
    void theVersionIsThatOfTheNewestMigration() throws IOException, URISyntaxException {
        URL first = ControlSchema.class.getResource("migration/V1__subscription_progress_table_state.sql");
        assertNotNull(first);
        URI folder = first.toURI();
        try (var files = Files.list(Path.of(folder).getParent())) {
            List<Integer> versions = files.map(file -> file.getFileName().toString())
                    .map(name -> Integer.valueOf(name.substring(1, name.indexOf("__"))))
                    .sorted()
                    .toList();
            assertEquals(ControlSchema.VERSION, versions.getLast());
            assertEquals(versions.size(), versions.getLast());
        }
    }
}
