package main

import (
	"encoding/json"
	"net/http"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// novel adds a member to every record of an answer that has an id, as a later version of the server might.
func novel(value any) any {
	switch value := value.(type) {
	case map[string]any:
		for name, member := range value {
			value[name] = novel(member)
		}
		if value["id"] != nil {
			value["novel"] = map[string]any{"is": true}
		}
	case []any:
		for i, element := range value {
			value[i] = novel(element)
		}
	}
	return value
}

// With --json commands print records as the server sent them, with members that this program does not know.
func TestCommandsPrintWholeRecords(t *testing.T) {
	nightly(t)
	t.Parallel()
	s := sharedServer(t)
	proxy := s.liar()
	proxy.lie(func(_ *http.Request, answer []byte) []byte {
		var whole any
		if json.Unmarshal(answer, &whole) != nil {
			return answer
		}
		changed, err := json.Marshal(novel(whole))
		require.NoError(t, err)
		return changed
	})
	s.url = proxy.url
	ada, ben := s.commandLine("ada"), s.commandLine("ben")
	ada.program, ben.program = true, true // the proxy adds a member to records
	whole := func(record map[string]any, members ...string) map[string]any {
		t.Helper()
		require.Equal(t, map[string]any{"is": true}, record["novel"], "%v", record)
		for _, name := range append(members, "id") {
			require.Contains(t, record, name)
		}
		return record
	}
	whole(ada.run("register", "ada_whole"), "lifecycle", "updated_at", "is_demo")
	benID := whole(ben.run("register", "ben_whole"))["id"].(string)
	whole(ada.run("me"), "encryption_public_key", "lifecycle")
	whole(ada.run("befriend", "ben_whole"), "updated_at", "accepted_at")
	whole(ben.run("befriend", "ada_whole"))
	whole(ada.list("friends")[0], "updated_at")
	whole(ada.run("send", "ben_whole", "Hello"), "size_bytes", "replayed")
	offer := []string{
		"offer", "--contractor", benID, "--title", "A sonnet", "--description", "Long.", "--deadline", "2999-01-01T00:00:00Z", "--amount", "10",
		"--operation-id", "0192f0c1-3333-4000-8000-000000000002",
	}
	order := whole(ada.run(offer...), "fee_mode", "dispute", "created_at", "replayed")
	again := whole(ada.run(offer...), "stored")
	require.Equal(t, true, again["replayed"])
	whole(again["stored"].(map[string]any), "fee_mode")
	id := order["id"].(string)
	whole(ben.run("act", id, "accept"), "confirmed_total_minor")
	ben.run("act", id, "start")
	whole(ben.run("draft", "send", id, "A verse."), "replayed")
	whole(ben.list("draft", "list", id)[0])
	whole(ada.run("order", id), "funded_at")
	whole(ada.list("orders")[0], "funded_at")
	ben.run("act", id, "deliver", "--result", "Done.")
	ada.run("act", id, "complete")
	whole(ada.run("rate", id, "5"), "order_title", "replayed")
	for _, entry := range ada.list("wallet", "--history") {
		whole(entry, "transaction_id")
	}
	require.Equal(t, "test_credit", ada.run("wallet")["unit"])
	task := whole(ada.run("board", "post", "--title", "A task", "--description", "Do.", "--deadline", "3d", "--amount", "5"), "updated_at")
	whole(ben.run("board", "respond", task["id"].(string), "I can."))
	whole(ada.list("board", "mine")[0]["task"].(map[string]any), "updated_at")
	whole(ben.list("board", "mine")[0]["response"].(map[string]any), "task")
	whole(ben.run("post", "Hello"), "updated_at", "attachments")
	whole(ben.run("service", "add", "Sonnets", "Long.", "--amount", "10"), "updated_at", "actions")
}

// The ledger costs a request for its page, and one for each page of orders, however many entries it has.
func TestHistoryNeedsFewRequests(t *testing.T) {
	nightly(t)
	t.Parallel()
	s := sharedServer(t)
	proxy := s.liar()
	s.url = proxy.url
	ada, ben := s.registered("ada_history"), s.registered("ben_history")
	befriend(ada, ben)
	for range 8 {
		id := ada.run("offer", "--contractor", "ben_history", "--title", "A sonnet", "--description", "Long.", "--deadline", "3d",
			"--amount", "10", "--operation-id", uuid.NewString())["id"].(string)
		ben.run("act", id, "accept")
	}
	var mu sync.Mutex
	var paths []string
	proxy.lie(func(request *http.Request, answer []byte) []byte {
		mu.Lock()
		defer mu.Unlock()
		paths = append(paths, request.URL.Path)
		return answer
	})
	_, shown, _ := ada.try("wallet", "--history")
	require.Contains(t, shown, "@ben_history")
	require.Contains(t, shown, "A sonnet")
	require.Equal(t, []string{"/api/v1/wallet/history", "/api/v1/orders"}, paths)
}
