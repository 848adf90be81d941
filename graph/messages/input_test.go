package messages_test

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/messages"
	"stoa/graph/platform/fault"
)

const someID = "0190a5d4-7c1e-7000-8000-0123456789ab"

// body is a well-formed envelope as it goes over the wire.
func body() map[string]any {
	return map[string]any{
		"recipient_id":         someID,
		"client_message_id":    strings.ToUpper(someID),
		"nonce":                graphtest.RandomBase64(24),
		"ciphertext":           graphtest.RandomBase64(16),
		"encryption_version":   "box-v1",
		"sender_public_key":    graphtest.RandomBase64(32),
		"recipient_public_key": graphtest.RandomBase64(32),
	}
}

// judge reads and checks a body as a transport does.
func judge(raw []byte) error {
	var in messages.SendInput
	if err := in.DecodeBody(raw); err != nil {
		return err
	}
	return graphtest.Err(in.Check())
}

func TestBodies(t *testing.T) {
	t.Parallel()
	largest := body()
	largest["nonce"], largest["ciphertext"] = strings.Repeat("A", 32), graphtest.RandomBase64(16384)
	require.NoError(t, judge(graphtest.Got(json.Marshal(largest))(t)))
	whole := graphtest.Got(json.Marshal(body()))(t)
	require.NoError(t, judge(whole), "the smallest")
	for _, raw := range []string{
		"", "null", "[]", `"x"`, "1", "{", "{}", "{} {}", string(whole) + "x", "\xef\xbb\xbf" + string(whole),
		strings.Replace(string(whole), "{", `{"nonce": "x",`, 1), strings.Replace(string(whole), "box-v1", "box-\xff", 1),
	} {
		graphtest.RequireFault(t, judge([]byte(raw)), fault.InvalidEnvelope)
	}
}

// formDefects are the possible defects in the form of an envelope, by the step of the contract that finds them.
var formDefects = []struct {
	code  fault.Code
	cases map[string]func(map[string]any)
}{
	{fault.InvalidEnvelope, map[string]func(map[string]any){
		"no recipient":          func(b map[string]any) { delete(b, "recipient_id") },
		"recipient not a UUID":  func(b map[string]any) { b["recipient_id"] = "{" + someID + "}" },
		"recipient null":        func(b map[string]any) { b["recipient_id"] = nil },
		"no client id":          func(b map[string]any) { delete(b, "client_message_id") },
		"client id a number":    func(b map[string]any) { b["client_message_id"] = 7 },
		"client id not in form": func(b map[string]any) { b["client_message_id"] = strings.ReplaceAll(someID, "-", "") },
	}},
	{fault.EncryptedEnvelopeRequired, map[string]func(map[string]any){
		"no nonce":         func(b map[string]any) { delete(b, "nonce") },
		"no ciphertext":    func(b map[string]any) { delete(b, "ciphertext") },
		"no version":       func(b map[string]any) { delete(b, "encryption_version") },
		"no sender key":    func(b map[string]any) { delete(b, "sender_public_key") },
		"no recipient key": func(b map[string]any) { delete(b, "recipient_public_key") },
		"text":             func(b map[string]any) { b["text"] = "hello" },
		"body":             func(b map[string]any) { b["body"] = nil },
		"message":          func(b map[string]any) { b["message"] = map[string]any{} },
		"content":          func(b map[string]any) { b["content"] = "" },
		"plaintext":        func(b map[string]any) { b["plaintext"] = "hello" },
	}},
	{fault.UnsupportedEncryption, map[string]func(map[string]any){
		"other version":      func(b map[string]any) { b["encryption_version"] = "box-v2" },
		"version in capital": func(b map[string]any) { b["encryption_version"] = "BOX-V1" },
		"version a number":   func(b map[string]any) { b["encryption_version"] = 1 },
		"version null":       func(b map[string]any) { b["encryption_version"] = nil },
	}},
	{fault.InvalidEnvelope, map[string]func(map[string]any){
		"unknown field":        func(b map[string]any) { b["subject"] = "x" },
		"Text is not text":     func(b map[string]any) { b["Text"] = "x" },
		"nonce null":           func(b map[string]any) { b["nonce"] = nil },
		"nonce short":          func(b map[string]any) { b["nonce"] = graphtest.RandomBase64(23) },
		"nonce long":           func(b map[string]any) { b["nonce"] = graphtest.RandomBase64(25) },
		"nonce a number":       func(b map[string]any) { b["nonce"] = json.Number(strings.Repeat("1", 32)) },
		"ciphertext short":     func(b map[string]any) { b["ciphertext"] = graphtest.RandomBase64(15) },
		"ciphertext long":      func(b map[string]any) { b["ciphertext"] = graphtest.RandomBase64(16385) },
		"ciphertext empty":     func(b map[string]any) { b["ciphertext"] = "" },
		"ciphertext unpadded":  func(b map[string]any) { b["ciphertext"] = strings.TrimRight(graphtest.RandomBase64(16), "=") },
		"ciphertext in lines":  func(b map[string]any) { b["ciphertext"] = graphtest.RandomBase64(18) + "\n" },
		"ciphertext stray bit": func(b map[string]any) { b["ciphertext"] = "AAAAAAAAAAAAAAAAAAAAAB==" },
		"sender key short":     func(b map[string]any) { b["sender_public_key"] = graphtest.RandomBase64(31) },
		"recipient key in url": func(b map[string]any) { b["recipient_public_key"] = strings.Repeat("_", 43) + "=" },
	}},
}

// Every defect has its code. If an envelope has two defects, the one that the contract checks first decides.
func TestOrderOfFormChecks(t *testing.T) {
	t.Parallel()
	type defect struct {
		step  int
		name  string
		apply func(map[string]any)
	}
	var all []defect
	for step, group := range formDefects {
		for _, name := range slices.Sorted(maps.Keys(group.cases)) {
			all = append(all, defect{step, name, group.cases[name]})
		}
	}
	for i, first := range all {
		for _, second := range all[i:] {
			b := body()
			second.apply(b)
			first.apply(b)
			known := fault.From(judge(graphtest.Got(json.Marshal(b))(t)))
			require.NotNil(t, known, "%s, %s", first.name, second.name)
			require.Equal(t, formDefects[first.step].code, known.Code, "%s, %s", first.name, second.name)
			require.NotEmpty(t, known.Fields)
		}
	}
}

func TestUnknownFieldIsNamedInPart(t *testing.T) {
	t.Parallel()
	b := body()
	b[strings.Repeat("é", 500)] = 1
	raw := graphtest.Got(json.Marshal(b))(t)
	for name := range graphtest.RequireFault(t, judge(raw), fault.InvalidEnvelope).Fields {
		require.True(t, utf8.ValidString(name))
		require.LessOrEqual(t, len(name), 100)
	}
}

// Any body either is refused with one of the three codes or has exactly the form of an envelope.
func FuzzEnvelope(f *testing.F) {
	f.Add(graphtest.Got(json.Marshal(body()))(f))
	for _, group := range formDefects {
		for _, apply := range group.cases {
			b := body()
			apply(b)
			f.Add(graphtest.Got(json.Marshal(b))(f))
		}
	}
	codes := []fault.Code{fault.InvalidEnvelope, fault.EncryptedEnvelopeRequired, fault.UnsupportedEncryption}
	f.Fuzz(func(t *testing.T, raw []byte) {
		if err := judge(raw); err != nil {
			refused, ok := errors.AsType[*fault.Error](err)
			require.True(t, ok, "%v", err)
			require.Contains(t, codes, refused.Code)
			return
		}
		var read map[string]string
		require.NoError(t, json.Unmarshal(raw, &read))
		require.Len(t, read, 7)
		for name, sizes := range map[string][2]int{
			"nonce": {24, 24}, "ciphertext": {16, 16384}, "sender_public_key": {32, 32}, "recipient_public_key": {32, 32},
		} {
			b := graphtest.Got(base64.StdEncoding.DecodeString(read[name]))(t)
			require.Equal(t, read[name], base64.StdEncoding.EncodeToString(b))
			require.True(t, sizes[0] <= len(b) && len(b) <= sizes[1], fmt.Sprint(name, len(b)))
		}
		require.Equal(t, messages.Version, read["encryption_version"])
	})
}
