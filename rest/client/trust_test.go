package client_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"stoa/rest/client"
)

func openTrust(t require.TestingT, path string) *client.Trust {
	return must(client.OpenTrust(path))(t)
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
				file := must(os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0))(t)
				ok(t)(file.WriteString(rapid.SampledFrom([]string{"", `{"id":"x`}).Draw(t, "cut")))
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
		pins := must(openTrust(t, path).Pins())(t)
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
	pins := must(openTrust(t, path).Pins())(t)
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
	require.Equal(t, os.FileMode(0o600), must(os.Stat(path))(t).Mode().Perm())
	require.True(t, bytes.HasSuffix(must(os.ReadFile(path))(t), []byte("\n")))
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

func openNonces(t require.TestingT, folder string) *client.Nonces {
	return must(client.OpenNonces(folder))(t)
}

func nonceOf(first byte) string {
	return base64.StdEncoding.EncodeToString(append([]byte{first}, make([]byte, 23)...))
}

func keyOf(t require.TestingT, first byte) string {
	return must(client.ParseKeys(privateKey(first)))(t).Public()
}

// A nonce belongs to the first message and the first event with which it was opened, even if programs restart, share the folder
// and crash in the middle of a line.
func TestTheFirstOpeningHolds(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	ids := []string{uuid.NewString(), uuid.NewString(), uuid.NewString()}
	rapid.Check(t, func(t *rapid.T) {
		path := filepath.Join(folder, uuid.NewString())
		programs := []*client.Nonces{openNonces(t, path), openNonces(t, path)}
		type name struct{ peer, nonce byte }
		messages, events := make(map[name]string), make(map[name]string)
		for range rapid.IntRange(1, 20).Draw(t, "steps") {
			if rapid.IntRange(0, 4).Draw(t, "step") == 0 {
				month := filepath.Join(path, time.Now().UTC().Format("2006-01"))
				file := must(os.OpenFile(month, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600))(t)
				ok(t)(file.WriteString(rapid.SampledFrom([]string{"", "abc 0192", "\n"}).Draw(t, "cut")))
				require.NoError(t, file.Close())
				programs[0] = openNonces(t, path)
			}
			which := name{byte(rapid.IntRange(1, 2).Draw(t, "peer")), byte(rapid.IntRange(0, 1).Draw(t, "nonce"))}
			message, event := rapid.SampledFrom(ids).Draw(t, "message"), rapid.SampledFrom(append([]string{""}, ids...)).Draw(t, "event")
			err := programs[rapid.IntRange(0, 1).Draw(t, "program")].Claim(keyOf(t, which.peer), nonceOf(which.nonce), message, event, time.Time{})
			if known, found := messages[which]; found && known != message || event != "" && events[which] != "" && events[which] != event {
				require.ErrorIs(t, err, client.ErrReplayed)
				continue
			}
			require.NoError(t, err)
			messages[which] = message
			if event != "" {
				events[which] = event
			}
		}
	})
}

// If many programs open one nonce as several messages at the same moment, one message wins, for all programs that open it.
func TestOneOpeningIsRemembered(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "agent.key.nonces")
	var running sync.WaitGroup
	outcomes := make([]error, 40)
	ids := []string{uuid.NewString(), uuid.NewString(), uuid.NewString(), uuid.NewString()}
	for i := range outcomes {
		running.Go(func() { outcomes[i] = openNonces(t, folder).Claim(keyOf(t, 1), nonceOf(1), ids[i%4], "", time.Time{}) })
	}
	running.Wait()
	winners := make(map[string]int)
	for i, err := range outcomes {
		if err == nil {
			winners[ids[i%4]]++
			continue
		}
		require.ErrorIs(t, err, client.ErrReplayed)
	}
	require.Len(t, winners, 1)
	for id, won := range winners {
		require.Equal(t, 10, won)
		require.NoError(t, openNonces(t, folder).Claim(keyOf(t, 1), nonceOf(1), id, "", time.Time{}))
	}
	info := must(os.Stat(folder))(t)
	require.Equal(t, os.FileMode(0o700), info.Mode().Perm())
	months := must(os.ReadDir(folder))(t)
	require.Len(t, months, 1)
	info = must(months[0].Info())(t)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
}

// A nonce is remembered for at least 92 days, and longer if its message is dated in the future; then its file is deleted.
func TestNoncesAreForgotten(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		folder := filepath.Join(t.TempDir(), "agent.key.nonces")
		name := func(age time.Duration) string { return time.Now().UTC().Add(-age).Format("2006-01") }
		const day = 24 * time.Hour
		time.Sleep(31*day - time.Minute)         // 92 days before, a month ended
		kept, old := name(92*day), name(124*day) // a month has up to 31 days
		message := uuid.NewString()
		future := time.Now().Add(400 * day)
		require.NoError(t, openNonces(t, folder).Claim(keyOf(t, 1), nonceOf(1), message, "", future))
		line := strings.TrimSpace(openings(t, folder))
		for _, month := range []string{kept, old, "not-a-month"} {
			require.NoError(t, os.WriteFile(filepath.Join(folder, month), []byte(line+"\n"), 0o600))
		}
		memory := openNonces(t, folder)
		entries := must(os.ReadDir(folder))(t)
		var names []string
		for _, entry := range entries {
			names = append(names, entry.Name())
		}
		require.ElementsMatch(t, []string{kept, future.UTC().Format("2006-01"), "not-a-month"}, names)
		require.NoError(t, os.Remove(filepath.Join(folder, future.UTC().Format("2006-01"))))
		require.ErrorIs(t, memory.Claim(keyOf(t, 1), nonceOf(1), uuid.NewString(), "", time.Time{}), client.ErrReplayed)
	})
}

// A message is not opened if its opening cannot be recorded.
func TestWhatCannotBeRememberedIsNotOpened(t *testing.T) {
	t.Parallel()
	c := newCorrespondents(t)
	folder := c.file + ".nonces"
	require.NoError(t, os.Remove(folder))
	require.NoError(t, os.WriteFile(folder, nil, 0o600)) // not even root makes a file in it
	opened, err := c.ada.Open(t.Context(), c.sealed(time.Now()), "")
	require.Error(t, err)
	require.Empty(t, client.Refusal(err))
	require.Empty(t, opened.Text)
}

func FuzzNonces(f *testing.F) {
	f.Add([]byte("AfNkY_xFoyru-UXMOTPScjdX 0192f0c1-4444-7000-8000-000000000002 -\n"))
	f.Add([]byte("x\nAfNkY_xFoyru-UXMOTPScjdX - -\n\x00"))
	message, other := uuid.NewString(), uuid.NewString()
	f.Fuzz(func(t *testing.T, file []byte) {
		folder := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(folder, time.Now().UTC().Format("2006-01")), file, 0o600))
		err := openNonces(t, folder).Claim(keyOf(t, 101), nonceOf(0), message, "", time.Time{})
		if err == nil {
			require.ErrorIs(t, openNonces(t, folder).Claim(keyOf(t, 101), nonceOf(0), other, "", time.Time{}), client.ErrReplayed)
		} else if !errors.Is(err, client.ErrReplayed) {
			t.Fatal(err)
		}
	})
}
