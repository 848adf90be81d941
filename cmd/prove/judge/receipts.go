package judge

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"

	"stoa/cmd/prove/history"
	"stoa/rest/client/receipt"
)

// checkReceipts judges what both sides of each order have of it (§12.5).
func checkReceipts(r *run, f *Finding) {
	if r.Final.Receipts == nil {
		return // the run ended before they were read
	}
	l, err := newKeyLog(r.Final.Log)
	if err != nil {
		f.violatedf("the key log cannot be read: %v", err)
		return
	}
	keys, err := receipt.ParseKeys(r.Final.Log.ReceiptKeys)
	if err != nil {
		f.violatedf("the keys of receipts cannot be read: %v", err)
		return
	}
	trust := receipt.Trust{Keys: keys, Logs: []note.Verifier{l.verifier}}
	for _, id := range sorted(r.orders) {
		r.judgeReceipts(r.orders[id], trust, f)
	}
	for _, handle := range sorted(r.Final.ReceiptLists) {
		listed := tally(r.Final.ReceiptLists[handle])
		for _, id := range sorted(r.orders) {
			o, expected := r.orders[id], 0
			if o.Order.State == closed && r.takesPart(handle, o) {
				expected = 1
			}
			if listed[id] != expected {
				f.violatedf("%s lists %d receipts of order %s, which is %s", handle, listed[id], id, o.Order.State)
			}
		}
	}
}

// judgeReceipts compares the receipts of both sides with the order and with each other.
func (r *run) judgeReceipts(o *answer, trust receipt.Trust, f *Finding) {
	documents := make(map[string]bool)
	for _, id := range o.Order.sides() {
		side := r.handles[id]
		raw, there := r.Final.Receipts[side+"/"+o.Order.ID]
		f.Looked++
		switch {
		case there != (o.Order.State == closed):
			f.violatedf("order %s is %s, and %s has a receipt: %t", o.Order.ID, o.Order.State, side, there)
			continue
		case !there:
			continue
		}
		found, err := receipt.Verify(raw, trust)
		if err != nil {
			f.violatedf("the receipt of order %s for %s: %v", o.Order.ID, side, err)
			continue
		}
		if why := r.disagrees(o, found); why != "" {
			f.violatedf("the receipt of order %s for %s: %s", o.Order.ID, side, why)
		}
		var file receipt.File
		_ = json.Unmarshal(raw, &file) // it was verified
		documents[file.Receipt.JWS] = true
	}
	if len(documents) > 1 {
		f.violatedf("the sides of order %s have different receipts", o.Order.ID)
	}
}

// disagrees says how a receipt does not fit its order and its ratings.
func (r *run) disagrees(o *answer, found *receipt.Verified) string {
	p := found.Receipt
	var further struct {
		OrderVersion int64             `json:"order_version"`
		AuthorID     string            `json:"author_id"`
		History      []json.RawMessage `json:"history"`
	}
	_ = json.Unmarshal(p.Raw, &further) // it was verified
	for _, member := range []struct {
		name      string
		got, want any
	}{
		{"sub", p.OrderID, o.Order.ID}, {"outcome", p.Outcome, o.Order.Outcome}, {"customer", p.Customer.ID, o.Order.CustomerID},
		{"contractor", p.Contractor.ID, o.Order.ContractorID}, {"amount_minor", p.AmountMinor, o.Order.AmountMinor},
		{"total_minor", p.TotalMinor, o.Order.TotalMinor}, {"order_version", further.OrderVersion, o.Order.Version},
		{"author_id", further.AuthorID, o.Order.AuthorID}, {"history", len(further.History), len(o.Events)},
	} {
		if member.got != member.want {
			return fmt.Sprintf("%s is %v instead of %v", member.name, member.got, member.want)
		}
	}
	made, unsure := r.ratingsOf(o.Order.ID)
	there := make(map[string]int)
	for _, rating := range found.Ratings {
		there[rating.ID]++
	}
	for _, id := range made {
		if there[id] == 0 {
			return "it lacks the rating " + id
		}
	}
	if len(there) != len(found.Ratings) || len(there) > len(made)+unsure {
		return fmt.Sprintf("it has the ratings %v, and %v were made", there, made)
	}
	return ""
}

// ratingsOf are the ids of the ratings of an order that were answered, and how many more there may be.
func (r *run) ratingsOf(order string) (ids []string, unsure int) {
	for _, q := range r.requests {
		switch a := q.succeeded(); {
		case q.operation() != history.OrderRate || q.attempts[0].Subject != order:
		case a != nil:
			ids = append(ids, got(a).Rating.ID)
		case q.unknown() > 0:
			unsure++
		}
	}
	return ids, unsure
}

// takesPart reports whether an agent is a side of an order.
func (r *run) takesPart(agent string, o *answer) bool {
	return slices.Contains(o.Order.sides(), r.ids[agent])
}

// checkExports compares agents' archives with what else is known of them (§12.6).
func checkExports(r *run, f *Finding) {
	for _, handle := range sorted(r.Final.Exports) {
		e := r.Final.Exports[handle]
		if err := checkManifest(e, r.Final.Log.ReceiptKeys); err != nil {
			f.violatedf("the archive of %s: %v", handle, err)
		}
		expected := r.archived(handle)
		for _, member := range sorted(expected) {
			there, due := tally(e.Members[member]), tally(expected[member])
			f.Looked += len(there)
			for _, id := range sorted(there) {
				if there[id] > 1 || due[id] == 0 {
					f.violatedf("the archive of %s has %s in %s, which is there already or not its own", handle, id, member)
				}
			}
			for _, id := range sorted(due) {
				if there[id] == 0 {
					f.violatedf("the archive of %s lacks %s in %s", handle, id, member)
				}
			}
		}
	}
}

// archived are the ids that belong into the members of an agent's archive.
func (r *run) archived(handle string) map[string][]string {
	expected := map[string][]string{
		"posts.jsonl": sorted(r.Final.Posts[handle]), "messages.jsonl": nil, "orders.jsonl": nil, "ledger.jsonl": nil,
	}
	expect := func(member, id string) { expected[member] = append(expected[member], id) }
	for list, messages := range r.Final.Messages {
		if reader, _, _ := strings.Cut(list, "/"); reader == handle {
			for i := range messages {
				expect("messages.jsonl", messages[i].ID)
			}
		}
	}
	for id, o := range r.orders {
		if r.takesPart(handle, o) {
			expect("orders.jsonl", id)
		}
	}
	for _, entry := range r.Final.Entries[handle] {
		expect("ledger.jsonl", strconv.FormatInt(entry.ID, 10))
	}
	return expected
}

// checkManifest verifies that the manifest is signed by a key of receipts, and names all members with their sums.
func checkManifest(e history.Export, keys json.RawMessage) error {
	known, err := receipt.ParseKeys(keys)
	if err != nil {
		return err
	}
	parts := strings.Split(e.Manifest, ".")
	if len(parts) != 3 {
		return errors.New("it has no signed manifest")
	}
	signature, err := base64.RawURLEncoding.DecodeString(parts[2])
	if err != nil {
		return err
	}
	signed := []byte(parts[0] + "." + parts[1])
	if !slices.ContainsFunc(sorted(known), func(name string) bool { return ed25519.Verify(known[name].Public, signed, signature) }) {
		return errors.New("no key of the server has signed its manifest")
	}
	payload, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return err
	}
	var manifest struct {
		Members []struct {
			Name   string `json:"name"`
			SHA256 string `json:"sha256"`
		} `json:"members"`
	}
	if err := json.Unmarshal(payload, &manifest); err != nil {
		return err
	}
	for _, member := range manifest.Members {
		if e.Sums[member.Name] != member.SHA256 {
			return fmt.Errorf("%s is not what the manifest says", member.Name)
		}
	}
	if len(manifest.Members) != len(e.Sums) {
		return fmt.Errorf("it has %d members, the manifest names %d", len(e.Sums), len(manifest.Members))
	}
	return nil
}
