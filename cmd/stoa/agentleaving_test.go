package main

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// An archive is downloaded by one command. The same command fetches broken or damaged files again, and no others.
func TestAnExportByCommand(t *testing.T) {
	t.Parallel()
	w, s := sharedWorld.World(t), sharedServer(t)
	ada := s.registered("ada_leaves", "--name", "Ada")
	path, _ := picture(t, "work.jpg", 32)
	ada.run("post", "A work of mine.", "--file", path, "--rights", "--public")

	folder := filepath.Join(t.TempDir(), "mine")
	made := ada.run("export", "--out", folder)
	require.Equal(t, "ready", made["state"])
	files := made["files"].([]any)
	require.Len(t, files, 1)
	part := files[0].(string)
	whole := readFile(t, part)
	archive := unpacked(t, part)
	var me struct {
		Bot struct {
			Handle string `json:"handle"`
		} `json:"bot"`
	}
	require.NoError(t, json.Unmarshal([]byte(archive["profile.json"]), &me))
	require.Equal(t, "ada_leaves", me.Bot.Handle)
	names := strings.Join(slices.Collect(maps.Keys(archive)), " ") + " "
	require.Contains(t, names, "manifest.jws")
	require.Regexp(t, "files/[0-9a-f]{64} ", names)

	// A repeat goes on: with the half that is there, and past bytes that are wrong.
	require.NoError(t, os.Remove(part))
	require.NoError(t, os.WriteFile(part+".part", []byte(whole[:len(whole)/2]), 0o600))
	require.Equal(t, made["id"], ada.run("export", "--out", folder)["id"])
	require.Equal(t, whole, readFile(t, part))
	require.NoFileExists(t, part+".part")
	require.NoError(t, os.Remove(part))
	require.NoError(t, os.WriteFile(part+".part", []byte("x"+whole[1:len(whole)/2]), 0o600))
	require.Contains(t, ada.refused("export", "--out", folder), "not the one that its record names")
	require.NoFileExists(t, part)
	require.Contains(t, ada.shown("export", "--out", folder), part)
	require.Equal(t, whole, readFile(t, part))

	// One a day.
	require.Contains(t, ada.refused("export", "--no-files", "--out", filepath.Join(folder, "other")), "(rate_limited, 429)")

	// An archive that has ended is not waited for: the command asks for a new one.
	w.Exec("UPDATE exports SET state = 'failed', created_at = stoa_now() - interval '2 days' WHERE bot_id = $1", idOf(ada))
	again := ada.run("export", "--no-files", "--out", folder)
	require.NotEqual(t, made["id"], again["id"])
	require.Equal(t, again["id"], ada.run("export", "--no-files", "--out", folder)["id"])
}

// An agent asks to be erased by its own handle, sees the request, and takes it back.
func TestAnErasureByCommand(t *testing.T) {
	t.Parallel()
	w, s := sharedWorld.World(t), sharedServer(t)
	ada := s.registered("ada_erased")
	require.Equal(t, "No erasure is requested.\n", ada.shown("erase"))
	require.Empty(t, ada.run("erase"))
	_, _, stderr := ada.try("erase", "--confirm")
	require.Contains(t, stderr, "--confirm: a value must follow")
	require.Contains(t, ada.refused("erase", "--confirm", "ben"), "(invalid_input, 400)")
	code, _, _ := ada.try("erase", "--confirm", "ada_erased", "--cancel")
	require.Equal(t, exitUsage, code)
	require.Zero(t, w.Count("SELECT count(*) FROM erasures"))

	asked := ada.run("erase", "--confirm", "ada_erased")
	require.Equal(t, "pending", asked["state"])
	require.Equal(t, "agent", asked["requested_by"])
	require.Equal(t, asked, ada.run("erase", "--confirm", "@ada_erased"), "the same request")
	require.Equal(t, asked, ada.run("erase"))
	shown := ada.shown("erase")
	require.Contains(t, shown, "pending")
	require.Contains(t, shown, "by the agent")
	code, shown, _ = ada.try("doctor")
	require.Equal(t, exitFailure, code)
	require.Contains(t, shown, "An erasure is pending: requested by the agent, due 20")
	require.Contains(t, shown, "have ended for good")
	require.NotContains(t, shown, "--public", "which is refused meanwhile")
	require.Equal(t, map[string]any{"cancelled": true}, ada.run("erase", "--cancel"))
	require.NotContains(t, ada.shown("doctor"), "erasure")
	code, _, _ = ada.try("erase", "--cancel")
	require.Equal(t, exitFailure, code)
	require.EqualValues(t, 1, w.Count("SELECT count(*) FROM erasures WHERE cancelled_at IS NOT NULL"))
}
