package judge_test

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stoa/cmd/prove/history"
	"stoa/cmd/prove/judge"
	"stoa/rest/client/keylog"
	"stoa/rest/client/keylog/keylogtest"
)

// restored lets do happen between a backup and the end of all servers, and restores the backup.
func (s *story) restored(do func()) {
	s.now += time.Second
	loss := history.Loss{Begun: s.now, Made: s.now + 50*time.Millisecond}
	s.now += 100 * time.Millisecond
	do()
	for i := range s.Attempts {
		s.Attempts[i].Changes = true
	}
	s.now += time.Second
	loss.Stopped, loss.Restored = s.now, s.now+time.Second
	s.Faults = append(s.Faults, history.Fault{
		Name: "restored", Start: loss.Stopped, Lifted: loss.Restored, End: loss.Restored + 50*time.Millisecond, Failover: true,
	})
	s.Losses = append(s.Losses, loss)
	s.now = loss.Restored + 100*time.Millisecond
	s.Length = s.now + time.Minute
}

// archiveAll makes ann's archive anew, with all orders.
func (s *story) archiveAll() {
	s.archive(s.signed)
	members := s.Final.Exports["ann"].Members
	members["orders.jsonl"], members["posts.jsonl"] = nil, nil
	for post := range s.Final.Posts["ann"] {
		members["posts.jsonl"] = append(members["posts.jsonl"], post)
	}
	for order := range s.Final.Orders {
		members["orders.jsonl"] = append(members["orders.jsonl"], order)
	}
}

// unsaid takes a message out of all lists.
func (s *story) unsaid(key string) {
	for list, all := range s.Final.Messages {
		s.Final.Messages[list] = slices.DeleteFunc(all, func(m history.Message) bool { return m.ClientMessageID == key })
	}
	s.archiveAll()
}

// unmade takes an order away, and its entries, which are the newest ones.
func (s *story) unmade(order string) {
	delete(s.Final.Orders, order)
	s.unpaid(order)
	s.archiveAll()
}

// unpaid takes the entries of an order away.
func (s *story) unpaid(order string) {
	for _, handle := range []string{"ann", "bob"} {
		all := s.Final.Entries[handle]
		s.Final.Entries[handle], s.Final.Wallets[handle] = nil, history.Wallet{}
		for _, e := range all {
			if e.OrderID != order {
				s.credit(handle, e)
			}
		}
	}
}

// half makes an order of ann's and bob's that is funded.
func (s *story) half(name string) {
	s.order(name, step{"ann", history.OrderCreate, "offered", ""}, step{"bob", history.OrderAccept, "funded", ""})
}

var lossesAllowed = []innocent{
	{"nothing happens between backup and restore", "", func(s *story) { s.restored(func() {}) }},
	{"a message that is gone", "", func(s *story) {
		s.restored(func() { s.message("ann", "bob", "then") })
		s.unsaid("then")
	}},
	{"a message that is left", "", func(s *story) {
		s.restored(func() { s.message("ann", "bob", "then") })
		s.archiveAll()
	}},
	{"a message that is sent again", "", func(s *story) {
		s.restored(func() { s.message("ann", "bob", "then") })
		s.unsaid("then")
		s.message("ann", "bob", "then")
		s.Deliveries[len(s.Deliveries)-1].EventID = "e-again-then"
		s.archiveAll()
	}},
	{"an order that is gone with its money", "", func(s *story) {
		s.restored(func() { s.half("then") })
		s.unmade("then")
		s.missing("bob", history.OrderGet, "then")
		s.refused("bob", history.OrderStart, "start", "then", 404, "not_found").Version = 2
	}},
	{"an order that is left with its money", "", func(s *story) {
		s.restored(func() { s.half("then") })
		s.archiveAll()
	}},
	{"an order that goes back", "", func(s *story) {
		s.half("back")
		before := s.Final.Orders["back"]
		s.restored(func() {
			body := before
			edit(&body, `"state":"funded","total_minor":110,"version":2`, `"state":"in_progress","total_minor":110,"version":3`)
			edit(&body, `"version":2}]`, `"version":2},{"action":"start","participant_id":"id-of-bob","state":"in_progress","version":3}]`)
			s.ask("bob", history.OrderStart, "start", "back", 200, body).Version = 2
			s.event("ann", 1, "e-start", "order.changed", object{"order_id": "back", "status": "in_progress", "version": 3})
			s.ask("bob", history.OrderGet, "", "back", 200, body)
		})
		s.ask("bob", history.OrderGet, "", "back", 200, before)
		s.archiveAll()
	}},
	{"a wallet that was read meanwhile", "", func(s *story) {
		s.restored(func() {
			s.ask("ann", history.WalletGet, "", "", 200, object{"wallet": object{"available_minor": 1, "reserved_minor": 0, "total_minor": 1}})
		})
	}},
	{"an event whose ack is gone", "", func(s *story) {
		s.restored(func() {
			s.Acks = append(s.Acks, history.Ack{Agent: "bob", Connection: 2, EventID: "e-again", Answered: s.now})
		})
		d := s.delivery("e-again")
		d.Connection, d.ConnectedAt, d.At = 50, s.now, s.now
		s.Deliveries = append(s.Deliveries, d)
	}},
	{"a challenge that is gone", "", func(s *story) {
		s.restored(func() {
			s.ask("ann", history.OwnerRequest, "", "ann@ann.example", 202, object{"challenge_id": "c-then"})
			s.Mails = append(s.Mails, history.Mail{At: s.now + 95*time.Millisecond, To: "ann@ann.example", MessageID: "m", Challenge: "c-then"})
		})
		s.missing("ann", history.OwnerOpen, "c-then")
	}},
	{"a post that is left and changes", "", func(s *story) {
		s.restored(func() {
			s.ask("ann", history.PostCreate, "left", "", 201, object{"post": object{"id": "p9", "text": "one"}}).Sent =
				raw(object{"text": "one", "visibility": "public"})
		})
		s.Final.Posts["ann"]["p9"] = "left"
		s.readPost("cat", "p9", "one")
		s.ask("ann", history.PostUpdate, "", "p9", 200, nil).Sent = raw(object{"text": "two", "visibility": "private"})
		s.readPost("ann", "p9", "two")
		s.archiveAll()
	}},
	{"a file that is gone", "", func(s *story) {
		s.restored(func() {
			s.ask("ann", history.FileUpload, "a-file", "hash", 201, object{"attachment": object{"id": "f2", "sha256": "hash"}})
		})
		s.missing("ann", "file.download", "f2")
	}},
	{"the head of an epoch that has ended", "", func(s *story) {
		s.restored(func() {})
		s.ask("", history.LogCheckpoint, "", "", 404, nil).Code = "not_found"
	}},
	{"a log in its next epoch", "key log", func(s *story) {
		s.restored(func() { s.ask("", history.LogCheckpoint, "", "", 200, "a head of what is gone") })
		s.nextEpoch(nil)
	}},
	{"two restores", "", func(s *story) {
		s.restored(func() { s.message("ann", "bob", "then") })
		s.unsaid("then")
		s.message("ann", "bob", "between")
		s.restored(func() { s.message("bob", "ann", "later then") })
		s.unsaid("later then")
	}},
}

// nextEpoch continues the log in another epoch, whose entries are the present ones but for those that lose takes away.
func (s *story) nextEpoch(lose func(entries [][]byte) [][]byte) {
	sum := sha256.Sum256([]byte("log"))
	next := keylogtest.New("stoa.example/log/2", ed25519.NewKeyFromSeed(sum[:]))
	left := s.Final.Log.Entries
	if lose != nil {
		left = lose(left)
	}
	next.Append(keylog.EpochEntry(logOrigin, s.signed.log.Head(int64(len(left))).Root))
	for _, raw := range left {
		entry, err := keylog.ParseEntry(raw)
		if err != nil {
			panic(err)
		}
		next.Append(entry)
	}
	s.signed.log = next
	s.Final.Log.Entries = nil
	s.eachEntry(s.signed, func(entry []byte) { s.Final.Log.Entries = append(s.Final.Log.Entries, entry) })
	s.Final.Log.Keys = raw(object{"log": object{"origin": next.Origin, "vkeys": []string{next.Key}}})
	for index, handle := range []string{"ann", "bob"} {
		card := s.Final.Log.Cards[handle]
		edit(&card, `"index":`+text(index), `"index":`+text(index+1))
		s.Final.Log.Cards[handle], s.Final.Log.Proofs[handle] = card, next.Proof(int64(index+1), -1).Text()
	}
}

var lossDefects = []defect{
	{"a message from before the backup is gone", "messages", "message hello of ann was answered", func(s *story) {
		s.restored(func() {})
		s.unsaid("hello")
	}},
	{"a message from after the restore is gone", "messages", "message after of ann was answered", func(s *story) {
		s.restored(func() {})
		s.message("ann", "bob", "after")
		s.unsaid("after")
	}},
	{"an order from before the backup is gone", "orders", "order paid cannot be read", func(s *story) {
		s.restored(func() {})
		s.unmade("paid")
	}},
	{"an order from before the backup goes further back", "orders", "order paid", func(s *story) {
		s.restored(func() {})
		s.half("paid")
	}},
	{"an order that is left without its money", "postings", "reserve of order then", func(s *story) {
		s.restored(func() { s.half("then") })
		s.unpaid("then")
	}},
	{"the money of an order that is gone", "wallets", "nobody asked for entry", func(s *story) {
		s.restored(func() { s.half("then") })
		delete(s.Final.Orders, "then")
		for handle := range s.Final.Entries {
			for i := range s.Final.Entries[handle] {
				if e := &s.Final.Entries[handle][i]; e.OrderID == "then" {
					e.OperationID = "another"
				}
			}
		}
	}},
	{"an ack from before the backup is forgotten", "acknowledged events", "e-hello of bob came", func(s *story) {
		s.restored(func() {})
		d := s.delivery("e-hello")
		d.Connection, d.ConnectedAt, d.At = 50, s.now, s.now
		s.Deliveries = append(s.Deliveries, d)
	}},
	{"a post from before the backup cannot be found", "refusals", "was not allowed at that moment", func(s *story) {
		s.restored(func() {})
		s.refused("ann", history.PostUpdate, "", "p2", 404, "not_found")
	}},
	{"a token from before the backup is refused", "refusals", "nothing allows this refusal", func(s *story) {
		s.restored(func() {})
		s.refused("ann", history.WalletGet, "", "", 401, "unauthorized")
	}},
	{"an error between backup and restore", "no internal error", "500", func(s *story) {
		s.restored(func() { s.ask("ann", "tasks.list", "", "/tasks", 500, nil) })
	}},
	{"a backup that stops the service", "service between faults", "503", func(s *story) {
		s.restored(func() { s.ask("ann", "tasks.list", "", "/tasks", 503, nil).RetryAfter = true })
	}},
	{"another price between backup and restore", "repeats", "order.version is 5 instead of 2", func(s *story) {
		s.restored(func() { s.again("paid-2").Body = s.find("paid-5", 0).Body })
	}},
	{"a log that has lost what was there before the backup", "key log", "is no beginning of the log of", func(s *story) {
		s.restored(func() {})
		s.nextEpoch(func(entries [][]byte) [][]byte { return append(slices.Clone(entries[:1]), entries[2:]...) })
	}},
	{"a log that forgets its former epoch", "key log", "names no former epoch", func(s *story) {
		s.restored(func() {})
		s.nextEpoch(nil)
		s.Final.Log.Entries[0] = keylog.ReceiptEntry(bytes.Repeat([]byte{1}, keylog.SaltSize), "x").Bytes()
	}},
}

// What a restore may undo is found by no check, neither along with the run nor at its end.
func TestLossesThatAreAllowed(t *testing.T) {
	t.Parallel()
	for _, a := range lossesAllowed {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			s := right()
			a.plant(s)
			for _, f := range judge.Judge(&s.History) {
				require.True(t, len(f.Violations) == 0 || a.check != "" && a.check != f.Name, "%s: %v", f.Name, f.Violations)
			}
			for name, violations := range s.early() {
				require.Empty(t, violations, name)
			}
		})
	}
}
