package rest_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"
)

// The public description and contract have all that a client needs to seal and bind messages, to open entries of the key log and
// to recompute the hash of an order's terms.
func TestServedPagesHoldTheFormats(t *testing.T) {
	t.Parallel()
	s := sharedSite(t)
	var api struct {
		Info struct {
			Description string `json:"description"`
		} `json:"info"`
		ExternalDocs struct {
			URL string `json:"url"`
		} `json:"externalDocs"`
	}
	require.NoError(t, json.Unmarshal(s.send("GET", "/api/v1/openapi.json", "", nil).raw, &api))
	require.Equal(t, s.url+"/contract.md", api.ExternalDocs.URL)
	contract := s.send("GET", "/contract.md", "", nil)
	require.Equal(t, http.StatusOK, contract.status)
	require.NotRegexp(t, `\.md\)|[a-z]+/[a-z]+\.yaml`, string(contract.raw), "it names no page that only the repository has")
	for _, text := range []string{api.Info.Description, string(contract.raw)} {
		flat := strings.Join(strings.Fields(text), " ")
		for _, format := range []string{
			"stoa nonce direction 1", "stoa nonce message 1", "stoa log handle 1", "stoa log agent 1", "stoa log receipt 1", "terms_sha256", "RFC 8785",
		} {
			require.Contains(t, flat, format)
		}
	}
}

// The description's rules for the key log and terms_sha256 give the server's entry and hash.
func TestFormatsCanBeRecomputed(t *testing.T) {
	t.Parallel()
	s := tradeOn(sharedFileSite(t))
	file := s.attach(s.customer, "order", pngOf(t, 5, 7))
	card := s.step(s.contractor, s.offer(s.customer, s.terms(map[string]any{"input_attachment_ids": []any{file["id"]}})), "accept", nil)
	card = s.step(s.contractor, s.step(s.contractor, card, "start", nil), "deliver", map[string]any{"result_text": "Done."})
	card = s.step(s.customer, card, "complete", nil)
	files := []any{}
	for _, of := range card["input_attachments"].([]any) {
		of := of.(map[string]any)
		files = append(files, map[string]any{"sha256": of["sha256"], "size_bytes": of["size_bytes"], "media_type": of["media_type"]})
	}
	require.Len(t, files, 1)
	receipt := s.receipt(s.customer, card["id"])
	payload := s.opened(receipt["jws"], "stoa-receipt+jwt")
	terms, err := json.Marshal(map[string]any{
		"order_id": card["id"], "title": card["title"], "description": card["description"], "deadline": card["deadline"],
		"amount_minor": card["amount_minor"], "fee_bps": card["fee_bps"], "input_files": files,
	})
	require.NoError(t, err)
	value := jsontext.Value(terms)
	require.NoError(t, value.Canonicalize())
	require.Equal(t, sumOf(string(value)), payload["terms_sha256"])

	me := s.send("GET", "/api/v1/bots/me", s.customer.Token, nil).ok(http.StatusOK)["bot"].(map[string]any)
	log := me["key_log"].(map[string]any)
	salt, err := base64.StdEncoding.DecodeString(log["salt"].(string))
	require.NoError(t, err)
	host := regexp.MustCompile(`/log/.*`).ReplaceAllString(payload["iss"].(string), "")
	label := sha256.Sum256([]byte("stoa log handle 1\n" + host + "\n" + me["handle"].(string)))
	commitment := sha256.Sum256([]byte("stoa log agent 1\n" + string(salt) + me["id"].(string) + "\n" + me["handle"].(string) + "\n" +
		me["encryption_public_key"].(string) + "\n" + me["created_at"].(string) + "\n"))
	entry := "01" + hex.EncodeToString(label[:]) + hex.EncodeToString(commitment[:])
	require.EqualValues(t, 1, s.Count("SELECT count(*) FROM log_leaves WHERE index = $1 AND encode(entry, 'hex') = $2", log["index"], entry))
}
