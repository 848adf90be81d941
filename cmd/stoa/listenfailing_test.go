package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/graph/events"
	"stoa/rest/client"
)

// A hook that fails is tried again while later events wait. The listener reports this, and doctor does until the hook succeeds.
func TestAFailingHookIsShown(t *testing.T) {
	t.Parallel()
	w, s := sharedWorld.World(t), sharedServer(t)
	ada, ben := s.registered("ada_fails"), s.registered("ben_asks")
	ben.run("befriend", "ada_fails")
	ready := filepath.Join(t.TempDir(), "ready")
	l := ada.listens("--exec", "test -e "+ready+" || exit 3")
	eventually(t, func() bool { return strings.Contains(l.stderr.String(), "later events wait behind it") }, "it says nothing")
	require.Regexp(t, `handling contact.requested [0-9a-f-]{36}: exit status 3; it is tried again in \d+\.\d s, and later events wait behind it`,
		l.stderr.String())
	code, stdout, _ := ada.try("doctor")
	require.Equal(t, exitFailure, code)
	require.Contains(t, stdout, "The listener cannot hand over contact.requested ")
	require.Contains(t, stdout, "exit status 3")
	require.Contains(t, stdout, "It is tried again at ")

	require.NoError(t, os.WriteFile(ready, nil, 0o600))
	eventually(t, func() bool {
		code, _, _ := ada.try("doctor")
		return code == 0
	}, "doctor complains although the hook succeeds")

	// A listener that was killed has no failure any more.
	require.NoError(t, os.Remove(ready))
	w.Exec("DELETE FROM contacts WHERE $1 IN (requester_id, recipient_id)", idOf(ada))
	ben.run("befriend", "ada_fails")
	eventually(t, func() bool {
		code, _, _ := ada.try("doctor")
		return code == exitFailure
	}, "doctor does not see the second failure")
	l.kill()
	require.NotContains(t, ada.shown("doctor"), "cannot hand over")
}

// The help of listen names the input of a hook, for every kind of event that the server sends.
func TestListenHelpShowsEveryKind(t *testing.T) {
	t.Parallel()
	help := helpOf(t, "listen")
	for _, words := range []string{"gets the same event again, in order", "doubles", "/heartbeat.md", "bound says", "text is the opened message"} {
		require.Contains(t, strings.Join(strings.Fields(help), " "), words)
	}
	payloads := map[events.Kind]any{
		events.ContactRequested: events.ContactPayload{}, events.ContactAccepted: events.ContactPayload{},
		events.ContactBlocked: events.ContactPayload{}, events.MessageCreated: events.MessagePayload{}, events.OrderChanged: events.OrderPayload{},
		events.ProfileRecommendations: events.RecommendationsPayload{}, events.OrderRated: events.RatingPayload{},
		events.OrderReceipt: events.ReceiptPayload{}, events.ExportReady: events.ExportPayload{}, events.OrderDraft: events.DraftPayload{}, events.OrderDraftReply: events.DraftReplyPayload{},
		events.TaskPosted:    events.TaskPostedPayload{},
		events.TaskResponded: events.TaskRespondedPayload{}, events.TaskSelected: events.TaskSelectedPayload{},
		events.TaskDeclined: events.TaskDeclinedPayload{}, events.FeedbackAnswered: events.FeedbackPayload{}, events.OperatorNotice: events.NoticePayload{},
	}
	samples := make(map[string]map[string]any)
	for line := range strings.Lines(help) {
		var sample struct {
			client.Event
			Text  *string `json:"text"`
			Bound *bool   `json:"bound"`
		}
		if json.Unmarshal([]byte(line), &sample) != nil {
			continue
		}
		var payload map[string]any
		require.NoError(t, json.Unmarshal(sample.Payload, &payload))
		samples[sample.Kind] = payload
		if status, befriends := map[string]string{
			client.ContactRequested: "incoming", client.ContactAccepted: "friends", client.ContactBlocked: "blocked",
		}[sample.Kind]; befriends {
			require.Equal(t, status, payload["friendship_status"])
		}
		require.Equal(t, sample.Kind == client.MessageCreated, sample.Text != nil && sample.Bound != nil)
	}
	require.Len(t, samples, len(events.Kinds()))
	for _, kind := range events.Kinds() {
		var wanted, shown []string
		for _, member := range reflect.VisibleFields(reflect.TypeOf(payloads[events.Kind(kind)])) {
			name, _, _ := strings.Cut(member.Tag.Get("json"), ",")
			if name != "resembles" || kind == client.ContactRequested { // the other events of contacts leave it out
				wanted = append(wanted, name)
			}
		}
		for name := range samples[kind] {
			shown = append(shown, name)
		}
		slices.Sort(wanted)
		slices.Sort(shown)
		require.Equal(t, wanted, shown, kind)
	}
}
