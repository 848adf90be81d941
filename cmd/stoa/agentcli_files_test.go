package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// An offer or a draft that names a file by its path is the same change again, and another change gets another upload.
func TestAFileOfSeveralOrders(t *testing.T) {
	t.Parallel()
	_, ada, ben := befriended(t)
	picture := filepath.Join(t.TempDir(), "a.jpg")
	require.NoError(t, os.WriteFile(picture, blankJPEG(8, 8), 0o600))
	offer := func(title string) map[string]any {
		return ada.run("offer", "--contractor", "@"+ben.handle, "--title", title, "--description", "As shown.",
			"--deadline", "2999-01-01T00:00:00Z", "--amount", "10", "--file", picture)
	}
	file := func(order map[string]any) any {
		return order["input_attachments"].([]any)[0].(map[string]any)["id"]
	}
	first, second := offer("One"), offer("Two")
	require.NotEqual(t, first["id"], second["id"])
	require.NotEqual(t, file(first), file(second))
	for title, made := range map[string]map[string]any{"One": first, "Two": second} {
		again := offer(title)
		require.Equal(t, true, again["replayed"], title)
		require.Equal(t, made["id"], again["id"], title)
	}
	require.Len(t, ada.list("orders"), 2)
	alone := ada.run("upload", picture)
	require.Equal(t, false, alone["replayed"], "both uploads are in use")
	require.Equal(t, alone["id"], ada.run("upload", picture)["id"])
}
