package rest_test

import (
	"archive/zip"
	"bytes"
	"crypto"
	"crypto/ed25519"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/exports"
	"stoa/graph/graphtest"
	"stoa/graph/platform/fault"
)

// exported requests an export, makes it and returns its id.
func exported(s *trade, me *graphtest.Agent) string {
	s.t.Helper()
	made := s.post(me, "/exports", object{"operation_id": uuid.NewString()}).ok(202)
	id := of(made["export"].(object))
	require.NoError(s.t, s.Exports.Make(s.t.Context(), uuid.MustParse(id)))
	return id
}

// archive returns the archive of an export, which has one part, and its members by name.
func (s *site) archive(by *graphtest.Agent, id string) (card object, raw []byte, all map[string][]byte) {
	s.t.Helper()
	card = s.get(by, "/exports/"+id).has(200, object{"export": object{"state": "ready"}})["export"].(object)
	require.Len(s.t, card["parts"], 1)
	part := first(card, "parts")
	raw = s.get(by, part["url"].(string)).is(200).raw
	require.Equal(s.t, part["sha256"], sumOf(string(raw)))
	require.Len(s.t, raw, int(part["size_bytes"].(float64)))
	all = make(map[string][]byte)
	for _, f := range graphtest.Got(zip.NewReader(bytes.NewReader(raw), int64(len(raw))))(s.t).File {
		require.NotContains(s.t, all, f.Name)
		require.Equal(s.t, time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC), f.Modified.UTC(), "a zero would be day 0 of month 0")
		all[f.Name] = graphtest.Got(io.ReadAll(graphtest.Got(f.Open())(s.t)))(s.t)
	}
	return card, raw, all
}

// manifest verifies the signature of an archive's manifest and the hash of every member.
func manifest(t *testing.T, all map[string][]byte) object {
	t.Helper()
	signed := graphtest.Got(jose.ParseSignedCompact(string(all["manifest.jws"]), []jose.SignatureAlgorithm{jose.EdDSA}))(t)
	seed := graphtest.Got(hkdf.Key(sha256.New, graphtest.SecretKey, nil, "receipts ed25519 1", ed25519.SeedSize))(t)
	public := ed25519.NewKeyFromSeed(seed).Public()
	payload := graphtest.Got(signed.Verify(public))(t)
	thumbprint := graphtest.Got((&jose.JSONWebKey{Key: public}).Thumbprint(crypto.SHA256))(t)
	require.Equal(t, base64.RawURLEncoding.EncodeToString(thumbprint), signed.Signatures[0].Protected.KeyID)
	require.Equal(t, "stoa-export+jwt", signed.Signatures[0].Protected.ExtraHeaders["typ"])
	var list object
	require.NoError(t, json.Unmarshal(payload, &list))
	members := list["members"].([]any)
	require.Len(t, members, len(all)-1)
	for _, m := range members {
		entry := m.(object)
		content := all[entry["name"].(string)]
		require.Equal(t, entry["sha256"], sumOf(string(content)), entry["name"])
		require.Len(t, content, int(entry["size_bytes"].(float64)))
	}
	return list
}

// records counts the records of a member.
func records(all map[string][]byte, member string) int {
	return bytes.Count(all[member+".jsonl"], []byte("\n"))
}

// crowd gives an agent many files and messages.
func crowd(s *trade, files, messages int) {
	s.t.Helper()
	for i := range files {
		s.attach(s.customer, "portfolio", pngOf(s.t, 8+i, 8))
	}
	s.Exec(`INSERT INTO messages (id, created_at, contact_id, client_message_id, sender_id, recipient_id, nonce, ciphertext,
		encryption_version, sender_public_key, recipient_public_key, size_bytes, expires_at)
		SELECT gen_random_uuid(), stoa_now() - make_interval(secs => n), $1, gen_random_uuid(),
			CASE n % 2 WHEN 0 THEN $2::uuid ELSE $3 END, CASE n % 2 WHEN 0 THEN $3::uuid ELSE $2 END, decode(repeat('00', 24), 'hex'),
			decode(repeat(md5(n::text), 8), 'hex'), 'box-v1', $4::bytea, $5::bytea, 128, stoa_now() + interval '90 days'
		FROM generate_series(1, $6) n`, s.contact, s.customer.ID, s.contractor.ID, s.customer.Key.PublicKey().Bytes(),
		s.contractor.Key.PublicKey().Bytes(), messages)
}

// An export of 100 files and 5,000 messages is complete; a broken download can be resumed; another agent cannot read it.
func TestAnExportIsComplete(t *testing.T) {
	t.Parallel()
	s := tradeOn(newFileSite(t))
	agent, peer := s.customer, s.contractor
	files := 100
	if testing.Short() {
		files = 5 // each inspection runs in a process
	}
	crowd(s, files, 5000)
	s.Posted(agent, marker, "public")
	s.offered(agent, marker, marker)
	s.task(agent, nil)
	order := s.closed()
	s.rate(agent, order["id"], object{"text": marker}).ok(201)
	s.rate(peer, order["id"], object{"text": marker}).ok(201)
	s.post(agent, "/feedback", object{"kind": "idea", "text": marker}).ok(201)
	s.patch(agent, "/bots/me", object{"profile_public": false}).ok(200)

	id := exported(s, agent)
	card, raw, all := s.archive(agent, id)
	require.Nil(t, card["truncated"])
	require.Equal(t, agent.ID.String(), manifest(t, all)["agent"].(object)["id"])
	for member, n := range map[string]int{
		"contacts": 1, "messages": 5000, "orders": 1, "ratings_given": 1, "ratings_received": 1, "tasks": 1, "responses": 0, "services": 1,
		"feedback": 1, "posts": 1, "attachments": files, "tokens": 1, "webhooks": 0,
	} {
		require.Equal(t, n, records(all, member), member)
	}
	require.Positive(t, records(all, "ledger"))
	require.Positive(t, records(all, "rewards"))
	require.NotContains(t, all, "owner.json")
	found := 0
	for name, content := range all {
		if sum, file := strings.CutPrefix(name, "files/"); file {
			require.Equal(t, sum, sumOf(string(content)))
			found++
		}
	}
	require.Equal(t, files, found)
	own, profile := s.get(agent, "/bots/me").ok(200), object{}
	require.NoError(t, json.Unmarshal(all["profile.json"], &profile))
	own["bot"].(object)["last_active_at"] = profile["bot"].(object)["last_active_at"] // a slow machine takes a minute
	require.Equal(t, own, profile)
	detail, exportedOrder := s.get(agent, "/orders/"+of(order)).ok(200), object{}
	detail["drafts"] = []any{}
	require.NoError(t, json.Unmarshal(all["orders.jsonl"], &exportedOrder))
	require.Equal(t, detail, exportedOrder)

	// The download is resumed.
	url, half := first(card, "parts")["url"].(string), len(raw)/2
	tag := s.get(agent, url).header.Get("ETag")
	tail := s.send("GET", url, agent.Token, nil, "Range", fmt.Sprintf("bytes=%d-", half), "If-Match", tag).is(206)
	require.Equal(t, raw, append(bytes.Clone(raw[:half]), tail.raw...))
	s.send("GET", url, agent.Token, nil, "If-None-Match", tag).is(304)
	for _, path := range []string{"/api/v1/exports/" + id, url} {
		s.get(peer, path).fault(fault.NotFound)
	}
	s.get(agent, strings.TrimSuffix(url, "1")+"99").fault(fault.NotFound)
	s.get(agent, strings.TrimSuffix(url, "1")+"x").fault(fault.InvalidID)
	s.get(agent, "/exports/x").fault(fault.InvalidID)

	// The export is kept for seven days.
	s.Shift(7*24*time.Hour + time.Minute)
	s.get(agent, "/exports/"+id).has(200, object{"export": object{"state": "expired"}})
	s.get(agent, url).fault(fault.NotFound)
	require.EqualValues(t, 1, graphtest.Got(s.Exports.Sweep(t.Context()))(t))
	require.Zero(t, s.Count("SELECT count(*) FROM export_parts"))
	objects := s.Attachments.Store.List(nil)
	for {
		object, err := objects.Next(t.Context())
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		require.NotContains(t, object.Key, "exports")
	}
}

// An agent has one export a day and one at a time. A repeat returns the same export. The size of all exports is bounded.
func TestExportsAreLimited(t *testing.T) {
	t.Parallel()
	s := tradeOn(newFileSite(t))
	agent := s.customer
	sent := object{"operation_id": uuid.NewString(), "include_files": false}
	first := s.post(agent, "/exports", sent).has(202, object{"export": object{"parts": []any{}}})
	require.Equal(t, first, s.post(agent, "/exports", sent).ok(200))
	s.post(agent, "/exports", object{"operation_id": sent["operation_id"]}).fault(fault.IdempotencyConflict)
	another, id := object{"operation_id": uuid.NewString()}, uuid.MustParse(of(first["export"].(object)))
	require.Equal(t, exports.Job{ExportID: id}, lastJob(s.AskedJobs()))
	for range 2 { // the second request finds the export made
		require.NoError(t, s.Exports.Make(t.Context(), id))
	}
	s.post(agent, "/exports", another).fault(fault.RateLimited)
	s.Shift(24*time.Hour + time.Second)
	s.Exports.Quotas.ExportBytes = 1000
	s.post(agent, "/exports", another).fault(fault.StorageQuotaExceeded)
	s.Exports.Quotas.ExportBytes = 1 << 30
	s.post(agent, "/exports", another).ok(202)
}

func lastJob[T any](all []T) any { return all[len(all)-1] }

// A full archive states its end, and has all records before it.
func TestAFullExportNamesItsEnd(t *testing.T) {
	t.Parallel()
	s := tradeOn(newFileSite(t))
	s.Exports.MaxBytes = 1 << 20
	crowd(s, 0, 5000)
	card, _, all := s.archive(s.customer, exported(s, s.customer))
	cut := card["truncated"].(object)
	require.Equal(t, "messages", cut["member"])
	require.Equal(t, cut, manifest(t, all)["truncated"])
	kept := records(all, "messages")
	require.Less(t, kept, 5000)
	require.Positive(t, kept)
	older := s.get(s.customer, "/messages?peer="+s.contractor.ID.String()+"&before="+cut["before"].(string)).ok(200)
	require.EqualValues(t, 5000-kept, s.Count("SELECT count(*) FROM messages WHERE (created_at, id) < (SELECT created_at, id FROM messages WHERE id = $1)",
		cut["before"]))
	require.Len(t, older["messages"], 100)
}

// Erasing an agent also deletes its exports.
func TestAnErasedAgentHasNoExports(t *testing.T) {
	t.Parallel()
	s := tradeOn(newFileSite(t))
	s.erasing(s.customer)
	s.Shift(7 * 24 * time.Hour)
	exported(s, s.customer)
	require.EqualValues(t, 1, s.erase())
	require.EqualValues(t, 1, graphtest.Got(s.Exports.Sweep(t.Context()))(t))
	require.Zero(t, s.Count("SELECT count(*) FROM export_parts"))
}

// An export has the drafts of an order and their replies, for both participants. An event announces it, and it links only to
// public pages.
func TestAnExportHasDraftsAndIsAnnounced(t *testing.T) {
	t.Parallel()
	s := tradeOn(newFileSite(t))
	order := s.started()
	first := s.draft(s.contractor, order, nil).ok(201)["draft"].(object)
	s.reply(s.customer, order, of(first), nil).ok(200)
	s.draft(s.contractor, order, nil).ok(201)
	for _, agent := range []*graphtest.Agent{s.customer, s.contractor} {
		require.Empty(t, s.told(agent, "2", "export.ready"))
		id := exported(s, agent)
		require.Equal(t, []object{{"export_id": id}}, s.told(agent, "2", "export.ready"))
		require.Empty(t, s.told(agent, "1", "export.ready"))
		_, _, all := s.archive(agent, id)
		var line object
		require.NoError(t, json.Unmarshal(all["orders.jsonl"], &line))
		require.Equal(t, s.drafts(agent, order), line["drafts"])
		require.NotNil(t, line["drafts"].([]any)[1].(object)["reply"])
		named := regexp.MustCompile(`/[a-z0-9./_-]*\.(?:md|json)\b`).FindAllString(string(all["README.txt"]), -1)
		require.NotEmpty(t, named)
		for _, path := range named {
			s.send("GET", path, "", nil).is(200)
		}
		require.NotContains(t, string(all["README.txt"]), "docs/")
	}
}
