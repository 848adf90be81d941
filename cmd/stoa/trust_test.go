package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/rest/client"
)

// befriended are two agents by commands that know each other through a server that lies from then on.
func befriended(t *testing.T) (l *liar, ada, ben commandLine) {
	t.Helper()
	s := sharedServer(t)
	l = s.liar()
	s.url = l.url
	ada, ben = s.named("ada_trusts"), s.named("ben_trusted")
	ada.run("register", ada.handle)
	ben.run("register", ben.handle)
	ada.run("befriend", "@"+strings.ToUpper(ben.handle))
	ben.run("befriend", ada.handle)
	return l, ada, ben
}

// handles counts the handles of named.
var handles atomic.Int64

// named is commandLine for an agent with a unique handle that begins like that.
func (s *testServer) named(begin string) commandLine {
	c := s.commandLine(begin)
	c.handle = fmt.Sprintf("%s_%d", begin, handles.Add(1))
	return c
}

// fresh is a public key of an unknown agent.
func fresh(t testing.TB) string {
	t.Helper()
	keys, err := client.NewKeys()
	require.NoError(t, err)
	return keys.Public()
}

// If a known agent's name gets another key, nothing is sealed, opened, offered, asked or posted any more.
func TestAChangedKeyStopsEverything(t *testing.T) {
	t.Parallel()
	l, ada, ben := befriended(t)
	ada.run("send", ben.handle, "hello")
	ben.run("send", ada.handle, "hello yourself")
	key, id := ben.run("me")["encryption_public_key"].(string), idOf(ben)
	info, err := os.Stat(ada.key + ".trust")
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	pins := ada.list("pins")
	require.Len(t, pins, 1)
	require.Equal(t, ben.handle, pins[0]["handle"])
	require.Equal(t, ben.run("me")["encryption_key_fingerprint"], pins[0]["fingerprint"])

	l.lie(replacing(key, fresh(t)))
	offer := []string{
		"offer", "--contractor", ben.handle, "--title", "x", "--description", "x", "--deadline", "2999-01-01T00:00:00Z", "--amount",
		"10", "--total", "11",
	}
	for _, args := range [][]string{
		{"send", ben.handle, "hello again"}, {"send", id, "hello again"}, {"befriend", "@" + ben.handle}, offer, {"read", ben.handle},
	} {
		code, stdout, stderr := ada.try(args...)
		require.Equal(t, exitFailure, code, "%v: %s", args, stdout)
		require.Contains(t, stderr, "stoa agent unpin @"+ben.handle)
		require.Contains(t, stderr, pins[0]["fingerprint"])
	}
	require.Empty(t, l.posted())

	// Another agent under a known handle is refused as well.
	l.lie(replacing(id, uuid.NewString()))
	require.Contains(t, ada.refused("send", ben.handle, "hello again"), "stoa agent unpin @"+ben.handle)

	// A key that the owner of the key file forgets by hand is pinned anew.
	l.lie(nil)
	require.Equal(t, pins[0]["fingerprint"], ada.run("unpin", "@"+ben.handle)["fingerprint"])
	require.Empty(t, ada.list("pins"))
	require.Contains(t, ada.refused("unpin", ben.handle), "no key of "+ben.handle+" is pinned")
	ada.run("send", ben.handle, "hello again")
	require.Len(t, ada.list("pins"), 1)
}

// A message that does not match its record is not opened: one's own as the other's, one under another id, one of another
// conversation, one to another agent.
func TestMessagesMatchTheirRecords(t *testing.T) {
	t.Parallel()
	l, ada, ben := befriended(t)
	s := &testServer{t: t, url: l.url}
	carol := s.registered("carol_stranger")
	befriend(ada, carol)
	ada.run("send", ben.handle, "pay carol")
	ben.run("send", ada.handle, "no")
	carol.run("send", ada.handle, "pay me")
	carolID, adaID, adaKey := idOf(carol), idOf(ada), ada.run("me")["encryption_public_key"].(string)
	carolKey := carol.run("me")["encryption_public_key"].(string)

	texts := func() (opened map[string]bool, failed []string) {
		opened = make(map[string]bool)
		for _, message := range ada.list("read", ben.handle) {
			if message["error"] != nil {
				require.Empty(t, message["text"])
				failed = append(failed, message["error"].(string))
				continue
			}
			require.Equal(t, true, message["bound"])
			opened[message["text"].(string)] = message["sent_by_me"].(bool)
		}
		return opened, failed
	}
	truth, failed := texts()
	require.Equal(t, map[string]bool{"pay carol": true, "no": false}, truth)
	require.Empty(t, failed)
	for name, row := range map[string]struct {
		lie  func(map[string]any)
		says error
	}{
		"reflected":  {reflected, client.ErrReflected},
		"another id": {func(m map[string]any) { m["client_message_id"] = uuid.NewString() }, client.ErrAltered},
		"another conversation": {func(m map[string]any) {
			m["sender_id"], m["sender_public_key"], m["recipient_id"], m["recipient_public_key"] = carolID, carolKey, adaID, adaKey
		}, client.ErrAltered},
		"to another":   {func(m map[string]any) { m["recipient_id"] = carolID }, client.ErrAltered},
		"from another": {func(m map[string]any) { m["sender_id"] = carolID }, client.ErrAltered},
		"another key of mine": {func(m map[string]any) {
			for _, side := range []string{"sender_public_key", "recipient_public_key"} {
				if m[side] == adaKey {
					m[side] = carolKey
				}
			}
		}, client.ErrAltered},
	} {
		l.lie(onMessages(t, row.lie))
		opened, failed := texts()
		require.Empty(t, opened, name)
		require.Len(t, failed, 2, name)
		for _, complaint := range failed {
			require.Contains(t, complaint, row.says.Error(), name)
		}
	}
	l.lie(nil)
	// Even the true messages of another conversation do not belong into this one.
	var theirs []byte
	l.lie(func(r *http.Request, answer []byte) []byte {
		if r.URL.Query().Get("peer") == carolID {
			theirs = answer
		} else if r.URL.Path == "/api/v1/messages" {
			return theirs
		}
		return answer
	})
	require.Equal(t, "pay me", ada.list("read", carolID)[0]["text"])
	_, failed = texts()
	require.Len(t, failed, 1)
	require.Contains(t, failed[0], "no message of this conversation")

	// The answer to a message has to be that message.
	l.lie(onMessages(t, func(m map[string]any) { m["client_message_id"] = uuid.NewString() }))
	require.Contains(t, ada.refused("send", ben.handle, "hello"), "another message than the one sent")
}

// A receipt is only accepted for its own order, however true it is.
func TestAReceiptOfAnotherOrderIsRefused(t *testing.T) {
	t.Parallel()
	l, ada, ben := befriended(t)
	asked, other := completed(ada, ben, "A sonnet"), completed(ada, ben, "An ode")
	path := filepath.Join(t.TempDir(), "receipt.json")
	for _, order := range []string{asked, other} { // the last one remains in the file
		eventually(t, func() bool {
			code, _, _ := ada.try("receipt", strings.ToUpper(order), "--out", path)
			return code == 0
		}, "the receipt has no proof")
	}
	l.lie(func(request *http.Request, answer []byte) []byte {
		if strings.HasSuffix(request.URL.Path, asked+"/receipt") {
			return []byte(readFile(t, path))
		}
		return answer
	})
	code, stdout, stderr := ada.try("receipt", asked)
	require.Equal(t, exitFailure, code, stdout)
	require.Contains(t, stderr, "of another order")
}
