package client_test

import (
	"encoding/base64"
	"errors"
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

func openNonces(t require.TestingT, folder string) *client.Nonces {
	nonces, err := client.OpenNonces(folder)
	require.NoError(t, err)
	return nonces
}

func nonceOf(first byte) string {
	return base64.StdEncoding.EncodeToString(append([]byte{first}, make([]byte, 23)...))
}

func keyOf(t require.TestingT, first byte) string {
	keys, err := client.ParseKeys(privateKey(first))
	require.NoError(t, err)
	return keys.Public()
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
				file, err := os.OpenFile(month, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
				require.NoError(t, err)
				_, err = file.WriteString(rapid.SampledFrom([]string{"", "abc 0192", "\n"}).Draw(t, "cut"))
				require.NoError(t, err)
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
	info, err := os.Stat(folder)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o700), info.Mode().Perm())
	months, err := os.ReadDir(folder)
	require.NoError(t, err)
	require.Len(t, months, 1)
	info, err = months[0].Info()
	require.NoError(t, err)
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
		entries, err := os.ReadDir(folder)
		require.NoError(t, err)
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
