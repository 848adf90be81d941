package receipt_test

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"flag"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/mod/sumdb/note"

	"stoa/rest/client/keylog"
	"stoa/rest/client/keylog/keylogtest"
	"stoa/rest/client/receipt"
)

var write = flag.Bool("write", false, "write the vectors that both clients share")

func TestMain(m *testing.M) {
	flag.Parse()
	if *write {
		raw, err := json.MarshalIndent(build(), "", " ")
		if err == nil {
			err = os.WriteFile(vectorsFile, append(raw, '\n'), 0o644)
		}
		if err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

const vectorsFile = "../testdata/receipts.json"

// vectors are the cases of both clients. A case changes the file or the trust of the others.
type vectors struct {
	Keys      json.RawMessage `json:"keys"`
	LogKey    string          `json:"log_key"`
	Witness   string          `json:"witness"`
	Terms     json.RawMessage `json:"terms"`
	InputFile string          `json:"input_file"`
	Cases     []vector        `json:"cases"`
}

// vector is a file, the keys that are trusted, and the exit code of `stoa verify`.
type vector struct {
	Name    string          `json:"name"`
	File    json.RawMessage `json:"file"`
	Keys    bool            `json:"keys"`
	LogKey  bool            `json:"log_key"`
	Witness bool            `json:"witness"`
	Code    int             `json:"code"`
	// JWKS has the trusted keys of this case, if they differ from the default.
	JWKS json.RawMessage `json:"jwks,omitempty"`
}

// stoa is a server with its keys and its log.
type stoa struct {
	key ed25519.PrivateKey
	log *keylogtest.Log
	// announced is the entry of the key in the log, with its proof.
	announced map[string]any
}

func seed(name string) ed25519.PrivateKey { return keylogtest.Private("test of receipts " + name) }

func newStoa(host, name string) *stoa {
	s := &stoa{key: seed(name), log: keylogtest.New(keylog.Origin(host, 1), seed(name+" log"))}
	s.announce()
	return s
}

// announce adds the key to the log.
func (s *stoa) announce() {
	entry, err := keylog.KeyEntry(keylog.PurposeReceipts, s.key.Public().(ed25519.PublicKey))
	if err != nil {
		panic(err)
	}
	s.announced = map[string]any{"index": s.log.Append(entry), "proof": nil}
}

var url64 = base64.RawURLEncoding

// jwks returns the key set of the server.
func (s *stoa) jwks() json.RawMessage {
	return marshal(map[string]any{"keys": []any{map[string]any{
		"kty": "OKP", "crv": "Ed25519", "x": s.x(), "kid": s.kid(), "use": "sig", "alg": "EdDSA",
		"log_index": s.announced["index"], "log_proof": s.announced["proof"],
	}}})
}

func (s *stoa) x() string { return url64.EncodeToString(s.key.Public().(ed25519.PublicKey)) }

func (s *stoa) kid() string {
	sum := sha256.Sum256([]byte(`{"crv":"Ed25519","kty":"OKP","x":"` + s.x() + `"}`))
	return url64.EncodeToString(sum[:])
}

func (s *stoa) sign(header map[string]any, payload any) string {
	all := map[string]any{"alg": "EdDSA", "kid": s.kid()}
	maps.Copy(all, header)
	signed := url64.EncodeToString(marshal(all)) + "." + url64.EncodeToString(marshal(payload))
	return signed + "." + url64.EncodeToString(ed25519.Sign(s.key, []byte(signed)))
}

// document is a signed document in the log.
func (s *stoa) document(kind string, payload any) map[string]any {
	return s.logged(s.sign(map[string]any{"typ": kind}, payload))
}

func (s *stoa) logged(jws string) map[string]any {
	sum := sha256.Sum256([]byte(jws))
	salt := sum[:keylog.SaltSize]
	return map[string]any{"jws": jws, "salt": salt, "index": s.log.Append(keylog.ReceiptEntry(salt, jws)), "proof": nil}
}

// prove adds the proofs by a head that witnesses have signed.
func (s *stoa) prove(witnesses []note.Signer, documents ...map[string]any) {
	for _, d := range documents {
		proof := s.log.Proof(d["index"].(int64), -1)
		proof.Checkpoint = s.log.Checkpoint(-1, witnesses...)
		d["proof"] = proof.Text()
	}
}

const (
	host, orderID, receiptID, ratingID = "stoa.example", "01a20005-36c4-7d3b-8c1e-2f6f0a9d7e11", "7d0c2c55-9a2e-4a07-9a55-0b5e0f6c2d11",
		"01a20005-3812-7c1f-9a05-5d1be2f1c0aa"
	customerID, contractorID = "01a20005-3279-7101-88e5-f352f236b427", "01a20005-32a7-74e9-949b-45f7aa5df718"
	inputFile                = "Roses are red.\n"
)

// agreed has values that canonical JSON, Go and JavaScript encode differently.
var agreed = map[string]any{
	"order_id": orderID, "title": "A <sonnet> & more", "description": "Line\u2028separated, \\u2028 and \"quoted\",\tünïcode 🌹",
	"deadline": "2999-01-01T00:00:00.000000Z", "amount_minor": 1000, "fee_bps": 1000, "input_files": []any{input},
}

var input = map[string]any{"sha256": hashOf(inputFile), "size_bytes": len(inputFile), "media_type": "text/plain"}

// canonicalTerms are the agreed terms as canonical JSON writes them.
var canonicalTerms = `{"amount_minor":1000,"deadline":"2999-01-01T00:00:00.000000Z",` +
	`"description":"Line` + "\u2028" + `separated, \\u2028 and \"quoted\",\tünïcode 🌹","fee_bps":1000,"input_files":[{"media_type":"text/plain",` +
	`"sha256":"` + hashOf(inputFile) + `","size_bytes":15}],"order_id":"` + orderID + `","title":"A <sonnet> & more"}`

func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

func marshal(value any) []byte {
	raw, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return raw
}

func payload(iss string) map[string]any {
	return map[string]any{
		"iss": iss, "iat": 1795000000, "jti": receiptID, "sub": orderID, "v": 1, "environment": "test", "unit": "test_credit", "outcome": "accepted",
		"customer":     map[string]any{"id": customerID, "handle": "ada", "key_fingerprint": nil},
		"contractor":   map[string]any{"id": contractorID, "handle": "ben", "key_fingerprint": nil},
		"amount_minor": 1000, "fee_minor": 100, "total_minor": 1100, "fee_bps": 1000, "input_files": []any{input}, "result_files": []any{},
		"terms_sha256": hashOf(canonicalTerms),
	}
}

func rating(iss string) map[string]any {
	return map[string]any{
		"iss": iss, "iat": 1795000001, "jti": ratingID, "sub": orderID, "receipt": receiptID, "author_id": customerID, "subject_id": contractorID,
		"stars": 5, "text_sha256": hashOf("On time."), "v": 1,
	}
}

func with(m map[string]any, changes map[string]any) map[string]any {
	m = maps.Clone(m)
	maps.Copy(m, changes)
	return m
}

// file is a receipt with its ratings as the server answers it.
func file(receipt map[string]any, ratings ...map[string]any) map[string]any {
	if ratings == nil {
		ratings = []map[string]any{}
	}
	return map[string]any{"receipt": with(receipt, map[string]any{
		"id": receiptID, "order_id": orderID, "ratings": ratings, "created_at": "2026-11-21T21:31:11.790412Z",
	})}
}

// build makes the vectors, the same ones every time.
func build() vectors {
	s, other := newStoa(host, "one"), newStoa("other.example", "other")
	fork := &stoa{key: s.key, log: keylogtest.New(s.log.Origin, seed("fork"))}
	witness, err := keylog.NewWitnessSigner("witness.example", seed("witness"), func() time.Time { return time.Unix(1795000002, 0) })
	if err != nil {
		panic(err)
	}
	witnesses := []note.Signer{witness}
	for range 5 {
		s.log.Append(keylog.ReceiptEntry(nil, "another"))
	}
	iss := s.log.Origin
	good, rated := s.document("stoa-receipt+jwt", payload(iss)), s.document("stoa-rating+jwt", rating(iss))
	anew := s.document("stoa-rating+jwt", rating(keylog.Origin(host, 2)))
	wrong := map[string]map[string]any{
		"rating of another order":   s.document("stoa-rating+jwt", with(rating(iss), map[string]any{"sub": receiptID})),
		"rating of another receipt": s.document("stoa-rating+jwt", with(rating(iss), map[string]any{"receipt": ratingID})),
		"rating of oneself":         s.document("stoa-rating+jwt", with(rating(iss), map[string]any{"subject_id": customerID})),
		"rating with six stars":     s.document("stoa-rating+jwt", with(rating(iss), map[string]any{"stars": 6})),
		"receipt as a rating":       good,
	}
	alone := map[string]map[string]any{
		"receipt of version 2":     s.document("stoa-receipt+jwt", with(payload(iss), map[string]any{"v": 2})),
		"receipt of another order": s.document("stoa-receipt+jwt", with(payload(iss), map[string]any{"sub": receiptID})),
		"issuer with another log":  s.document("stoa-receipt+jwt", payload(other.log.Origin)),
		"header without algorithm": s.logged(s.sign(map[string]any{"alg": "none", "typ": "stoa-receipt+jwt"}, payload(iss))),
		"header with HMAC":         s.logged(s.sign(map[string]any{"alg": "HS256", "typ": "stoa-receipt+jwt"}, payload(iss))),
		"header of a rating":       s.logged(s.sign(map[string]any{"typ": "stoa-rating+jwt"}, payload(iss))),
		"header with crit":         s.logged(s.sign(map[string]any{"typ": "stoa-receipt+jwt", "crit": []string{"b64"}, "b64": false}, payload(iss))),
		"a second dot at the end":  s.logged(s.sign(map[string]any{"typ": "stoa-receipt+jwt"}, payload(iss)) + "."),
		"padding at the end":       s.logged(s.sign(map[string]any{"typ": "stoa-receipt+jwt"}, payload(iss)) + "=="),
	}
	newName := s.logged(s.sign(map[string]any{"alg": "Ed25519", "typ": "stoa-receipt+jwt"}, payload(iss)))
	for _, all := range []map[string]map[string]any{wrong, alone} {
		s.prove(witnesses, slices.Collect(maps.Values(all))...)
	}
	s.prove(witnesses, good, rated, anew, newName, s.announced)
	foreign := other.document("stoa-receipt+jwt", payload(other.log.Origin))
	other.prove(nil, foreign)
	forged := &stoa{key: seed("named to one reader"), log: s.log}
	posing := forged.document("stoa-receipt+jwt", payload(iss))
	forged.prove(witnesses, posing)
	forked := fork.logged(good["jws"].(string))
	fork.prove(nil, forked)
	unwitnessed := with(good, nil)
	s.prove(nil, unwitnessed)
	hidden, borrowed := forged.jwks(), (&stoa{key: forged.key, announced: s.announced}).jwks()
	unannounced := (&stoa{key: s.key}).jwks()
	quiet := *s
	quiet.announced = with(s.announced, nil)
	quiet.prove(nil, quiet.announced)
	late := s.document("stoa-receipt+jwt", with(payload(iss), map[string]any{"iat": 1795000003}))

	v := vectors{Keys: s.jwks(), LogKey: s.log.Key, Witness: keylog.WitnessKey("witness.example", seed("witness").Public().(ed25519.PublicKey)),
		Terms: marshal(agreed), InputFile: inputFile}
	add := func(name string, code int, file map[string]any) *vector {
		v.Cases = append(v.Cases, vector{name, marshal(file), true, true, true, code, nil})
		return &v.Cases[len(v.Cases)-1]
	}
	add("receipt and rating", 0, file(good, rated))
	add("the algorithm's new name", 0, file(newName))
	add("rating that was given after the log had begun anew", 0, file(good, anew))
	add("rating alone", 0, map[string]any{"rating": rated})
	add("with keys of its own", 0, with(file(good), map[string]any{"jwks": s.jwks()}))
	add("without the log key", 2, file(good)).LogKey = false
	add("without keys", 2, file(good)).Keys = false
	add("another Stoa", 2, file(foreign))
	add("another Stoa with its own keys inside", 2, with(file(foreign), map[string]any{"jwks": other.jwks()}))
	add("another key that poses as this Stoa, with its own keys inside", 2, with(file(posing), map[string]any{"jwks": forged.jwks()}))
	add("another key that the server names, and the log does not have", 2, file(posing)).JWKS = hidden
	add("another key that the server names, with the proof of the true one", 2, file(posing)).JWKS = borrowed
	add("the key without its proof", 2, file(good)).JWKS = unannounced
	add("the key with the proof of a head that no witness signed", 3, file(good)).JWKS = quiet.jwks()
	add("a log by another key", 2, file(forked))
	add("not in the log yet", 3, file(late))
	add("rating not in the log yet", 3, file(good, with(rated, map[string]any{"index": nil, "proof": nil})))
	add("no witness", 3, file(unwitnessed))
	add("no witness, and none asked for", 0, file(unwitnessed)).Witness = false
	add("another salt", 1, file(with(good, map[string]any{"salt": rated["salt"]})))
	add("another index", 1, file(with(good, map[string]any{"index": rated["index"]})))
	add("proof of another entry", 1, file(with(good, map[string]any{"index": rated["index"], "proof": rated["proof"]})))
	add("wrong keys and proof of another entry", 1, file(with(good, map[string]any{"index": rated["index"], "proof": rated["proof"]}))).Keys = false
	add("no proof at all", 1, file(with(good, map[string]any{"proof": "c2sp.org/tlog-proof@v1\n"})))
	add("neither receipt nor rating", 1, map[string]any{})
	add("another receipt's id", 1, map[string]any{"receipt": with(file(good)["receipt"].(map[string]any), map[string]any{"id": ratingID})})
	add("rating of another host", 1, file(good, s.document("stoa-rating+jwt", rating(other.log.Origin))))
	for _, name := range slices.Sorted(maps.Keys(wrong)) {
		add(name, 1, file(good, wrong[name]))
	}
	for _, name := range slices.Sorted(maps.Keys(alone)) {
		add(name, 1, file(alone[name]))
	}
	return v
}

// read reads the vectors of the file.
func read(t *testing.T) (v vectors) {
	t.Helper()
	raw := keylogtest.Got(os.ReadFile(vectorsFile))(t)
	require.NoError(t, json.Unmarshal(raw, &v))
	return v
}

// trust returns the keys that a case trusts.
func (v vectors) trust(t *testing.T, c vector) (trust receipt.Trust) {
	t.Helper()
	if c.Keys {
		keys := v.Keys
		if c.JWKS != nil {
			keys = c.JWKS
		}
		trust.Keys = keylogtest.Got(receipt.ParseKeys(keys))(t)
	}
	if c.LogKey {
		trust.Logs = []note.Verifier{keylogtest.Got(keylog.ParseLogKey(v.LogKey))(t)}
	}
	if c.Witness {
		trust.Witnesses = []note.Verifier{keylogtest.Got(keylog.ParseWitnessKey(v.Witness))(t)}
	}
	return trust
}

var codes = map[int]error{1: receipt.ErrInvalid, 2: receipt.ErrUnvouched, 3: receipt.ErrUnlogged}

func TestVectors(t *testing.T) {
	t.Parallel()
	v := read(t)
	require.JSONEq(t, string(marshal(build())), string(marshal(v)), "go test -write writes them anew")
	for _, c := range v.Cases {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			found, err := receipt.Verify(c.File, v.trust(t, c))
			require.ErrorIs(t, err, codes[c.Code])
			require.Equal(t, c.Code == 1, found == nil)
		})
	}
}

// If any byte of document, salt or proof is changed, the file is invalid.
func TestEveryChangedByteIsRefused(t *testing.T) {
	t.Parallel()
	v := read(t)
	c := v.Cases[0]
	trust := v.trust(t, c)
	var whole struct {
		Receipt map[string]any `json:"receipt"`
	}
	require.NoError(t, json.Unmarshal(c.File, &whole))
	whole.Receipt["ratings"] = []any{}
	for _, member := range []string{"jws", "salt", "proof"} {
		text := whole.Receipt[member].(string)
		for i := range len(text) {
			for _, flip := range []byte{1, 0x20} {
				changed := []byte(text)
				changed[i] ^= flip
				raw := marshal(map[string]any{"receipt": with(whole.Receipt, map[string]any{member: string(changed)})})
				found, err := receipt.Verify(raw, trust)
				require.Error(t, err, "%s, byte %d: %v", member, i, found)
			}
		}
	}
}

func TestTermsAndFiles(t *testing.T) {
	t.Parallel()
	v := read(t)
	found := keylogtest.Got(receipt.Verify(v.Cases[0].File, v.trust(t, v.Cases[0])))(t)
	said := found.Receipt
	require.NoError(t, said.CheckTerms(v.Terms))
	order := with(agreed, map[string]any{"id": orderID, "input_attachments": []any{with(input, map[string]any{"id": ratingID})}})
	require.NoError(t, said.CheckTerms(marshal(map[string]any{"order": order, "events": []any{}})))
	for member, value := range map[string]any{
		"title": "A sonnet", "description": "x", "deadline": "2999-01-01T00:00:00Z", "amount_minor": 1001, "fee_bps": 0, "order_id": ratingID, "input_files": nil,
	} {
		require.ErrorIs(t, said.CheckTerms(marshal(with(agreed, map[string]any{member: value}))), receipt.ErrInvalid, member)
	}
	require.ErrorIs(t, said.CheckTerms([]byte("x")), receipt.ErrInvalid)
	require.NoError(t, said.CheckFile(strings.NewReader(v.InputFile)))
	require.ErrorIs(t, said.CheckFile(strings.NewReader("Violets")), receipt.ErrInvalid)
}

func TestKeySets(t *testing.T) {
	t.Parallel()
	for _, set := range []string{`x`, `{}`, `{"keys":[]}`, `{"keys":[{"kty":"OKP","crv":"X25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]}`,
		`{"keys":[{"kty":"OKP","crv":"Ed25519","x":"11qY"}]}`} {
		_, err := receipt.ParseKeys([]byte(set))
		require.Error(t, err, set)
	}
}
