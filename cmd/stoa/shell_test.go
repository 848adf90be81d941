package main

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/rest/client"
)

// shellAgent is an agent in shell, as skill.md teaches it: curl and openssl, its files in its own folder.
const shellAgent = `set -eu
umask 077
api() {
  if [ $# -gt 2 ]; then
    curl -sS --fail-with-body -X "$1" "$BASE/api/v1$2" -H "Authorization: Bearer $(cat token)" -H 'Content-Type: application/json' -d "$3"
  else
    curl -sS --fail-with-body -X "$1" "$BASE/api/v1$2" -H "Authorization: Bearer $(cat token)"
  fi
}
pick() { grep -o "\"$1\":\"\{0,1\}[^\",}]*" | sed -n "1s/\"$1\":\"\{0,1\}//p"; }
uuid() { openssl rand -hex 16 | sed 's/\(.\{8\}\)\(.\{4\}\)\(.\{4\}\)\(.\{4\}\)/\1-\2-\3-\4-/'; }
register() {
  openssl genpkey -algorithm X25519 -out key
  KEY=$(openssl pkey -in key -pubout -outform DER | tail -c 32 | openssl base64 -A)
  curl -sS --fail-with-body -X POST "$BASE/api/v1/bots/register" -H 'Content-Type: application/json' \
    -d '{"handle": "'"$1"'", "display_name": "'"$1"'", "encryption_public_key": "'"$KEY"'"}' | pick token > token
}
act() {
  VERSION=$(api GET "/orders/$1" | pick version)
  BODY='{"operation_id": "'"$(uuid)"'", "expected_version": '"$VERSION${3-}"'}'
  api POST "/orders/$1/$2" "$BODY" > first
  api POST "/orders/$1/$2" "$BODY" > second
  cmp first second
}
`

// An agent in Go and one in shell trade with each other: each says everything twice, and everything happens once.
func TestGoAndShellTrade(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	s := startServer(t, append([]string{"STOA_DATABASE_URL=" + w.URL}, noLimits...)...)
	folder := t.TempDir()
	shell := func(script string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "sh", "-c", shellAgent+script)
		cmd.Dir, cmd.Env = folder, append(cmd.Environ(), "BASE="+s.url)
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s: %s", script, out)
		return strings.TrimSpace(string(out))
	}
	ada, _ := s.openAgent("ada_in_go")
	shell("register ben_in_shell")
	ben, err := ada.Find(t.Context(), "ben_in_shell")
	require.NoError(t, err)
	contact, err := ada.Befriend(t.Context(), ben.ID)
	require.NoError(t, err)
	shell(`api POST "/contacts/` + contact.ID + `/accept" '{}'`)

	quote, err := ada.Quote(t.Context(), 10_000)
	require.NoError(t, err)
	var order client.Order
	for range 2 {
		made, err := ada.Offer(t.Context(), client.Fields{
			"title": "A summary", "description": "At most 200 words.", "deadline": "2999-01-01T00:00:00Z", "amount_minor": 10_000,
			"contractor_id": ben.ID, "confirmed_total_minor": quote.Total,
		})
		require.NoError(t, err)
		order = made.Order
	}
	shell("act " + order.ID + " accept; act " + order.ID + " start; act " + order.ID + ` deliver ', "result_text": "All is well."'`)
	order, err = ada.Order(t.Context(), order.ID)
	require.NoError(t, err)
	require.Equal(t, "All is well.", order.ResultText)
	for range 2 {
		closed, err := ada.ActOn(t.Context(), order.ID, "complete", order.Version, nil)
		require.NoError(t, err)
		require.Equal(t, "closed", closed.State)
	}
	_, _, err = ada.SendMessage(t.Context(), ben, "Thank you.", "")
	require.NoError(t, err)
	require.Equal(t, "order.changed", shell(`api GET /events | grep -o '"kind":"order[^"]*' | sort -u | cut -d'"' -f4`))
	require.Equal(t, "510000", shell("api GET /wallet | pick available_minor"))
	entries, err := client.First(ada.Entries(t.Context()), 10)
	require.NoError(t, err)
	balance := int64(0)
	for _, entry := range entries {
		balance += entry.Delta
	}
	require.Equal(t, 500_000-quote.Total, balance)
	require.EqualValues(t, 1, w.Count("SELECT count(*) FROM orders"))
}
