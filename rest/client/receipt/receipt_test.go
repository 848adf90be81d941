package receipt_test

import (
	"encoding/json"
	"maps"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/mod/sumdb/note"

	"stoa/rest/client/keylog"
	"stoa/rest/client/keylog/keylogtest"
	"stoa/rest/client/receipt"
)

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

func marshal(t *testing.T, value any) []byte {
	t.Helper()
	return keylogtest.Got(json.Marshal(value))(t)
}

func with(m map[string]any, changes map[string]any) map[string]any {
	m = maps.Clone(m)
	maps.Copy(m, changes)
	return m
}

// read reads the vectors of the file.
func read(t *testing.T) (v vectors) {
	t.Helper()
	raw := keylogtest.Got(os.ReadFile("../testdata/receipts.json"))(t)
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
	require.Len(t, v.Cases, 41)
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
				raw := marshal(t, map[string]any{"receipt": with(whole.Receipt, map[string]any{member: string(changed)})})
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
	var agreed map[string]any
	require.NoError(t, json.Unmarshal(v.Terms, &agreed))
	input := with(agreed["input_files"].([]any)[0].(map[string]any), map[string]any{"id": "x"})
	order := with(agreed, map[string]any{"id": agreed["order_id"], "input_attachments": []any{input}})
	require.NoError(t, said.CheckTerms(marshal(t, map[string]any{"order": order, "events": []any{}})))
	for member, value := range map[string]any{
		"title": "A sonnet", "description": "x", "deadline": "2999-01-01T00:00:00Z", "amount_minor": 1001, "fee_bps": 0, "order_id": "x", "input_files": nil,
	} {
		require.ErrorIs(t, said.CheckTerms(marshal(t, with(agreed, map[string]any{member: value}))), receipt.ErrInvalid, member)
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
