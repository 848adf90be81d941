package judge_test

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"

	"stoa/cmd/prove/history"
	"stoa/rest/client/keylog"
	"stoa/rest/client/keylog/keylogtest"
)

const logOrigin = "stoa.example/log/1"

// trusted holds the signers of a story: the key log, and the key of receipts.
type trusted struct {
	log  *keylogtest.Log
	keys ed25519.PrivateKey
}

func newTrusted() *trusted {
	seed := func(text string) ed25519.PrivateKey {
		sum := sha256.Sum256([]byte(text))
		return ed25519.NewKeyFromSeed(sum[:])
	}
	return &trusted{log: keylogtest.New(logOrigin, seed("log")), keys: seed("receipts")}
}

func text(value any) string { return string(raw(value)) }

// public is the key that signs receipts, jwk the same as a key set has it.
func (t *trusted) public() ed25519.PublicKey {
	public, _ := t.keys.Public().(ed25519.PublicKey)
	return public
}

func (t *trusted) jwk() object {
	return object{"kty": "OKP", "crv": "Ed25519", "x": base64.RawURLEncoding.EncodeToString(t.public())}
}

// sign returns a JSON Web Signature.
func (t *trusted) sign(kind string, payload any) string {
	x, _ := t.jwk()["x"].(string)
	thumbprint := sha256.Sum256([]byte(`{"crv":"Ed25519","kty":"OKP","x":"` + x + `"}`))
	encode := base64.RawURLEncoding.EncodeToString
	signed := encode(raw(object{"alg": "EdDSA", "typ": kind, "kid": encode(thumbprint[:])})) + "." + encode(raw(payload))
	return signed + "." + encode(ed25519.Sign(t.keys, []byte(signed)))
}

// logged appends a document to the log and returns it as receipts show it. Its proof is set by prove.
func (t *trusted) logged(jws string) object {
	salt := bytes.Repeat([]byte{7}, keylog.SaltSize)
	index := t.log.Append(keylog.ReceiptEntry(salt, jws))
	return object{"jws": jws, "salt": salt, "index": index, "proof": t.log.Proof(index, -1).Text()}
}

// trust fills in the log, receipts and an archive of ann's.
func (s *story) trust() *trusted {
	t := newTrusted()
	log := history.Log{Cards: make(map[string]json.RawMessage), Proofs: make(map[string]string)}
	s.ask("ann", history.Register, "", "ann", 201, nil)
	s.ask("bob", history.Register, "", "bob", 201, nil)
	for _, handle := range []string{"ann", "bob"} {
		agent := keylog.Agent{ID: id(handle), Handle: handle, Key: "key of " + handle, CreatedAt: "2026-01-01T00:00:00Z"}
		index := t.log.Append(agent.Entry("stoa.example", []byte("salt")))
		log.Cards[handle] = raw(object{"bot": object{
			"id": agent.ID, "handle": handle, "encryption_public_key": agent.Key, "created_at": agent.CreatedAt,
			"key_log": object{"index": index, "salt": []byte("salt")},
		}})
		log.Proofs[handle] = t.log.Proof(index, -1).Text()
		s.head(t)
	}
	log.Keys = raw(object{"log": object{"origin": logOrigin, "vkeys": []string{t.log.Key}}})
	key := t.jwk()
	entry, _ := keylog.KeyEntry("receipts", t.public()) // it has the size of a key
	index := t.log.Append(entry)
	key["log_index"], key["log_proof"] = index, t.log.Proof(index, -1).Text()
	log.ReceiptKeys = raw(object{"keys": []object{key}})

	s.Final.Receipts = make(map[string]json.RawMessage)
	s.Final.ReceiptLists = map[string][]string{"ann": {"paid", "refunded"}, "bob": {"refunded", "paid"}}
	s.receipt(t, "paid", "accepted", 5, "ra1")
	s.receipt(t, "refunded", "refunded", 4)
	s.archive(t)
	s.head(t)
	s.eachEntry(t, func(entry []byte) { log.Entries = append(log.Entries, entry) })
	s.Final.Log = log

	s.ask("bob", history.PublicRead, "", "dan", 200, object{"posts": []string{"the word of dan"}}).Of = "the word"
	s.ask("dan", history.ErasureRequest, "", "dan", 202, nil)
	s.missing("bob", history.CardGet, "dan")
	s.ask("bob", history.PublicRead, "", "dan", 200, object{"posts": []string{}}).Of = "the word"
	s.ask("dan", history.ErasureGet, "", "dan", 200, nil)
	s.ask("dan", history.ErasureCancel, "", "dan", 200, nil)
	s.missing("dan", history.ErasureGet, "dan")
	return t
}

// head is a reading of the log's head.
func (s *story) head(t *trusted) {
	s.ask("", history.LogCheckpoint, "", "", 200, string(t.log.Checkpoint(-1)))
}

// eachEntry calls do with every entry of the log.
func (s *story) eachEntry(t *trusted, do func(entry []byte)) {
	entries, err := keylog.ParseEntries(t.log.Tile(0, int(t.log.Head(-1).Size)))
	if err != nil {
		panic(err)
	}
	for _, entry := range entries {
		do(entry.Bytes())
	}
}

// receipt gives both sides of an order its receipt with the documents of ratings.
func (s *story) receipt(t *trusted, order, outcome string, version int, ratings ...string) {
	receiptID := "receipt-" + order
	document := t.logged(t.sign("stoa-receipt+jwt", object{
		"iss": logOrigin, "jti": receiptID, "sub": order, "v": 1, "outcome": outcome, "order_version": version, "author_id": id("ann"),
		"customer": object{"id": id("ann")}, "contractor": object{"id": id("bob")}, "amount_minor": 100, "total_minor": 110,
		"history": make([]object, version),
	}))
	document["id"], document["order_id"] = receiptID, order
	documents := []object{}
	for _, rating := range ratings {
		documents = append(documents, t.logged(t.sign("stoa-rating+jwt", object{
			"iss": logOrigin, "jti": rating, "sub": order, "receipt": receiptID, "author_id": id("ann"), "subject_id": id("bob"), "stars": 5, "v": 1,
		})))
	}
	document["ratings"] = documents
	for _, side := range []string{"ann", "bob"} {
		s.Final.Receipts[side+"/"+order] = raw(object{"receipt": document})
	}
}

// archive makes ann's archive.
func (s *story) archive(t *trusted) {
	e := history.Export{
		Members: map[string][]string{"orders.jsonl": {"paid", "refunded"}, "posts.jsonl": {"p1", "p2"}}, Sums: map[string]string{},
	}
	for _, list := range []string{"ann/bob", "ann/cat"} {
		for _, m := range s.Final.Messages[list] {
			e.Members["messages.jsonl"] = append(e.Members["messages.jsonl"], m.ID)
		}
	}
	for _, entry := range s.Final.Entries["ann"] {
		e.Members["ledger.jsonl"] = append(e.Members["ledger.jsonl"], text(entry.ID))
	}
	var members []object
	for _, name := range []string{"ledger.jsonl", "messages.jsonl", "orders.jsonl", "posts.jsonl"} {
		sum := sha256.Sum256([]byte(name))
		e.Sums[name] = hex.EncodeToString(sum[:])
		members = append(members, object{"name": name, "sha256": e.Sums[name]})
	}
	e.Manifest = t.sign("stoa-export+jwt", object{"members": members})
	s.Final.Exports = map[string]history.Export{"ann": e}
}

var trustDefects = []defect{
	{"a fork", "key log", "is no beginning of the log", func(s *story) {
		other := newTrusted()
		other.log.Append(keylog.ReceiptEntry([]byte("x"), "x"))
		s.head(other)
	}},
	{"a head of what was lost", "key log", "is no beginning of the log of", func(s *story) {
		s.Final.Log.Entries = s.Final.Log.Entries[:len(s.Final.Log.Entries)-1]
	}},
	{"a log that shrinks", "key log", "has 1 entries, and", func(s *story) {
		s.Attempts = append(s.Attempts, *s.first(history.LogCheckpoint))
		s.last(history.LogCheckpoint).Start = s.now + 1
		s.last(history.LogCheckpoint).End = s.now + 2
	}},
	{"a head of another key", "key log", "log.checkpoint", func(s *story) {
		other := keylogtest.New(logOrigin, ed25519.NewKeyFromSeed(bytes.Repeat([]byte{1}, ed25519.SeedSize)))
		s.ask("", history.LogCheckpoint, "", "", 200, string(other.Checkpoint(0)))
	}},
	{"an agent without an entry", "key log", "eve has 0 entries", func(s *story) { s.ask("eve", history.Register, "", "eve", 201, nil) }},
	{"an entry of nobody", "key log", "has 1 entries of agents that did not register", func(s *story) {
		s.first(history.Register).Subject = "another"
		s.first(history.Register).Status = history.Unanswered
	}},
	{"a proof of another entry", "key log", "the record names", func(s *story) {
		s.Final.Log.Proofs["ann"] = s.Final.Log.Proofs["bob"]
	}},
	{"a proof of another agent", "key log", "the entry of ann: the proof does not show", func(s *story) {
		body := s.Final.Log.Cards["ann"]
		edit(&body, "key of ann", "key of eve")
		s.Final.Log.Cards["ann"] = body
	}},
	{"a record without an entry", "key log", "the record names none", func(s *story) {
		body := s.Final.Log.Cards["ann"]
		edit(&body, `"index":0`, `"index":null`)
		s.Final.Log.Cards["ann"] = body
	}},
	{"an unreadable log", "key log", "cannot be read", func(s *story) { s.Final.Log.Entries[0] = nil }},

	{"a closed order without a receipt", "receipts", "has a receipt: false", func(s *story) { delete(s.Final.Receipts, "bob/paid") }},
	{"a receipt of an open order", "receipts", "has a receipt: true", func(s *story) {
		s.order("new", step{"ann", history.OrderCreate, "offered", ""})
		s.Final.Receipts["ann/new"] = s.Final.Receipts["ann/paid"]
	}},
	{"a receipt that does not verify", "receipts", "the receipt of order paid for ann", func(s *story) {
		s.Final.Log.ReceiptKeys = raw(object{"keys": []object{{
			"kty": "OKP", "crv": "Ed25519", "x": base64.RawURLEncoding.EncodeToString(make([]byte, 32)),
		}}})
	}},
	{"a receipt that is in no log", "receipts", "not in a witnessed log", func(s *story) {
		var file map[string]object
		_ = json.Unmarshal(s.Final.Receipts["ann/paid"], &file)
		file["receipt"]["proof"], file["receipt"]["index"] = nil, nil
		s.Final.Receipts["ann/paid"] = raw(file)
	}},
	{"a receipt of another version", "receipts", "order_version is 6 instead of 5", func(s *story) { s.receipt(s.signed, "paid", "accepted", 6, "ra1") }},
	{"a receipt of another outcome", "receipts", "outcome is refunded", func(s *story) { s.receipt(s.signed, "paid", "refunded", 5, "ra1") }},
	{"a rating without a document", "receipts", "lacks the rating ra1", func(s *story) { s.receipt(s.signed, "paid", "accepted", 5) }},
	{"a document of a rating twice", "receipts", "it has the ratings", func(s *story) {
		s.receipt(s.signed, "paid", "accepted", 5, "ra1", "ra1")
	}},
	{"a receipt that is listed twice", "receipts", "ann lists 2 receipts of order paid", func(s *story) {
		s.Final.ReceiptLists["ann"] = append(s.Final.ReceiptLists["ann"], "paid")
	}},
	{"a receipt that is not listed", "receipts", "bob lists 0 receipts of order paid", func(s *story) {
		s.Final.ReceiptLists["bob"] = []string{"refunded"}
	}},

	{"an archive that lacks a message", "exports", "lacks m-hello in messages.jsonl", func(s *story) {
		s.Final.Exports["ann"].Members["messages.jsonl"] = s.Final.Exports["ann"].Members["messages.jsonl"][1:]
	}},
	{"an archive with another's order", "exports", "not its own", func(s *story) {
		s.Final.Exports["ann"].Members["orders.jsonl"] = append(s.Final.Exports["ann"].Members["orders.jsonl"], "other")
	}},
	{"an archive with a record twice", "exports", "is there already", func(s *story) {
		s.Final.Exports["ann"].Members["ledger.jsonl"] = append(s.Final.Exports["ann"].Members["ledger.jsonl"], "1")
	}},
	{"an archive that was changed", "exports", "posts.jsonl is not what the manifest says", func(s *story) {
		s.Final.Exports["ann"].Sums["posts.jsonl"] = "other"
	}},
	{"an archive with more than its manifest", "exports", "the manifest names 4", func(s *story) {
		s.Final.Exports["ann"].Sums["more"] = "x"
	}},
	{"a manifest by another key", "exports", "no key of the server", func(s *story) {
		e := s.Final.Exports["ann"]
		e.Manifest = "x" + e.Manifest
		s.Final.Exports["ann"] = e
	}},

	{"what is erased is found", "erasures", "which is erased", func(s *story) {
		s.ask("dan", history.ErasureRequest, "", "dan", 202, nil)
		s.ask("bob", history.PublicRead, "", "dan", 200, object{"posts": []string{"the word of dan"}}).Of = "the word"
	}},
	{"an erasure cannot be taken back", "erasures", "within its time", func(s *story) {
		s.ask("dan", history.ErasureCancel, "", "dan", 409, nil).Code = "state_conflict"
	}},
	{"an erasure that is forgotten", "erasures", "says that the erasure is none", func(s *story) {
		s.ask("dan", history.ErasureRequest, "", "dan", 202, nil)
		s.missing("dan", history.ErasureGet, "dan")
	}},
	{"an erasure that goes on", "erasures", "says that the erasure is pending", func(s *story) {
		s.ask("dan", history.ErasureGet, "", "dan", 200, nil)
	}},
}

var trustAllowed = []innocent{
	{"a head that was read at the same time", "key log", func(s *story) {
		a := *s.first(history.LogCheckpoint)
		a.End = s.now
		s.Attempts = append(s.Attempts, a)
	}},
	{"a registration without an answer", "key log", func(s *story) {
		s.ask("eve", history.Register, "", "eve", history.Unanswered, nil)
		s.first(history.Register).Status = history.Unanswered
	}},
	{"a rating whose answer was lost", "receipts", func(s *story) { s.first(history.OrderRate).Status = history.Unanswered }},
	{"a search before the erasure was answered", "erasures", func(s *story) {
		s.ask("ann", history.ErasureRequest, "", "ann", history.Unanswered, nil)
		s.ask("bob", history.PublicRead, "", "ann", 200, object{"posts": []string{"the word of ann"}}).Of = "the word"
	}},
}
