package client_test

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"stoa/rest/client"
)

func openTrust(t require.TestingT, path string) *client.Trust {
	trust, err := client.OpenTrust(path)
	require.NoError(t, err)
	return trust
}

// agent is one of a few agents under one of a few keys and handles.
func agent(id, handle, key int) client.Brief {
	public := client.Brief{ID: fmt.Sprintf("0192f0c1-2222-7000-8000-%012d", id)}
	if handle > 0 {
		public.Handle = fmt.Sprintf("agent_%d", handle)
	}
	if key > 0 {
		keys, _ := client.ParseKeys(privateKey(byte(key)))
		named := keys.Public()
		public.Key = &named
	}
	return public
}

// An agent and a handle keep their first key until they are unpinned by hand, whatever the server names, and even if programs
// restart or share the file.
func TestPinsHold(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		path := filepath.Join(folder, uuid.NewString()+".trust")
		programs := []*client.Trust{openTrust(t, path), openTrust(t, path)}
		pinned, handles := make(map[string]client.Brief), make(map[string]string)
		for range rapid.IntRange(1, 20).Draw(t, "steps") {
			trust := programs[rapid.IntRange(0, 1).Draw(t, "program")]
			named := agent(rapid.IntRange(1, 3).Draw(t, "id"), rapid.IntRange(0, 3).Draw(t, "handle"), rapid.IntRange(0, 2).Draw(t, "key"))
			switch rapid.IntRange(0, 9).Draw(t, "step") {
			case 0: // a program starts anew, maybe after a crash in the middle of a line
				file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
				require.NoError(t, err)
				_, err = file.WriteString(rapid.SampledFrom([]string{"", `{"id":"x`}).Draw(t, "cut"))
				require.NoError(t, err)
				require.NoError(t, file.Close())
				programs[0] = openTrust(t, path)
			case 1:
				known, found := pinned[named.ID]
				_, err := trust.Unpin(named.ID)
				require.Equal(t, found, err == nil)
				delete(pinned, named.ID)
				delete(handles, known.Handle)
			default:
				known, found := pinned[named.ID]
				holder, taken := handles[named.Handle]
				changed := named.Key != nil && (found && *known.Key != *named.Key || taken && holder != named.ID ||
					found && known.Handle != "" && named.Handle != "" && known.Handle != named.Handle)
				err := trust.Check(named)
				require.Equal(t, changed, err != nil, "%v", err)
				if changed {
					require.ErrorIs(t, err, client.ErrKeyChanged)
					require.True(t, client.HasCode(err, "key_changed"))
					require.ErrorContains(t, err, "stoa agent unpin ")
				}
				if changed || named.Key == nil {
					continue
				}
				if !found || known.Handle == "" {
					pinned[named.ID] = named
				}
				if named.Handle != "" {
					handles[named.Handle] = named.ID
				}
			}
		}
		pins, err := openTrust(t, path).Pins()
		require.NoError(t, err)
		require.Len(t, pins, len(pinned))
		for id, known := range pinned {
			require.Equal(t, *known.Key, pins[id].Key)
			require.Equal(t, known.Handle, pins[id].Handle)
		}
	})
}

// If many programs meet an agent with several keys at the same moment, all keep the same key, and the other keys are refused.
func TestOneKeyIsPinned(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "agent.key.trust")
	var running sync.WaitGroup
	refused := make([]error, 40)
	for i := range refused {
		running.Go(func() { refused[i] = openTrust(t, path).Check(agent(1, 1, 1+i%4)) })
	}
	running.Wait()
	pins, err := openTrust(t, path).Pins()
	require.NoError(t, err)
	require.Len(t, pins, 1)
	agreed := 0
	for i, err := range refused {
		if pins[agent(1, 1, 1).ID].Key == *agent(1, 1, 1+i%4).Key {
			require.NoError(t, err)
			agreed++
		} else {
			require.ErrorIs(t, err, client.ErrKeyChanged)
		}
	}
	require.Equal(t, 10, agreed)
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	require.True(t, bytes.HasSuffix(raw, []byte("\n")))
}

// A message has at most 8,000 characters and 15,000 bytes; a longer text is never sent to the server.
func TestTextsAreBounded(t *testing.T) {
	t.Parallel()
	requests := 0
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { requests++ }))
	t.Cleanup(server.Close)
	a := openAgent(t, filepath.Join(t.TempDir(), "agent.key"), server.URL)
	to := agent(1, 1, 1)
	for _, row := range []struct {
		text string
		fine bool
	}{
		{strings.Repeat("x", 8000), true},
		{strings.Repeat("x", 8001), false},
		{strings.Repeat("é", 7500), true},
		{strings.Repeat("é", 7501), false},
		{strings.Repeat("€", 5000), true},
		{strings.Repeat("€", 5000) + "x", false},
		{"", false},
		{"\xff", false},
	} {
		_, err := a.Keys.Seal(uuid.NewString(), to.ID, *to.Key, row.text, uuid.NewString())
		if row.fine {
			require.NoError(t, err)
			continue
		}
		require.ErrorIs(t, err, client.ErrText)
		require.True(t, client.HasCode(err, "invalid_input"))
		_, _, err = a.SendMessage(t.Context(), to, row.text, "")
		require.ErrorIs(t, err, client.ErrText)
	}
	require.Zero(t, requests)
}
