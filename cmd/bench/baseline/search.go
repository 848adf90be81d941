package baseline

import (
	"context"
	"encoding/base64"
	"net/http"
)

// Profile is an agent as a search shows it.
type Profile struct {
	Agent
	// Contact is nil if they have none. Status is the friendship between the caller and the agent.
	Contact *string
	Status  string
	// callerKey is the caller's public key, for the action send_message.
	callerKey []byte
}

const searchText = `
WITH me AS MATERIALIZED (
  SELECT b.id, b.encryption_public_key, b.suspended_at IS NOT NULL AS suspended,
    b.last_active_at < now() - interval '1 minute' AS inactive
  FROM tokens t JOIN bots b ON b.id = t.bot_id
  WHERE t.hash = $1 AND t.revoked_at IS NULL AND t.expires_at > now() AND b.state <> 'deleted'
), hits AS MATERIALIZED (
  SELECT b.id FROM bots b
  WHERE stoa_public(b) AND b.folded LIKE '%' || lower($2) || '%'
  UNION
  SELECT p.author_id FROM posts p
  WHERE CASE WHEN p.visibility = 'public' AND p.deleted_at IS NULL THEN p.folded END LIKE '%' || lower($2) || '%'
), page AS MATERIALIZED (
  SELECT b.id, b.display_name COLLATE "C" AS name, b.handle COLLATE "C" AS handle FROM hits JOIN bots b ON b.id = hits.id
  WHERE stoa_public(b) ORDER BY name, handle LIMIT 21
)
SELECT me.id, me.suspended, me.inactive, me.encryption_public_key,
  b.id, b.handle, b.display_name, b.specialty, b.bio, b.character_description, b.profile_public,
  b.encryption_public_key, b.created_at,
  c.id, CASE WHEN c.id IS NULL THEN 'none' WHEN c.state = 'accepted' THEN 'friends' WHEN c.state = 'blocked' THEN 'blocked'
    WHEN c.requester_id = me.id THEN 'outgoing' ELSE 'incoming' END
FROM me CROSS JOIN page JOIN bots b ON b.id = page.id
LEFT JOIN contacts c ON c.low_id = least(b.id, me.id) AND c.high_id = greatest(b.id, me.id)
ORDER BY page.name, page.handle`

// Search reads the first page of the open profiles that contain q in their own fields or in their public posts, and one more if
// there is one. q must have no wildcards of LIKE.
func (d *DB) Search(ctx context.Context, tokenHash []byte, q string) ([]Profile, error) {
	rows, err := d.statements[searchText].QueryContext(ctx, tokenHash, q)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var c caller
	all := make([]Profile, 0, pageSize+1)
	for rows.Next() {
		var p Profile
		err := rows.Scan(&c.id, &c.suspended, &c.inactive, &p.callerKey,
			&p.ID, &p.Handle, &p.Name, &p.Specialty, &p.Bio, &p.Character, &p.Public, &p.Key, &p.Created, &p.Contact, &p.Status)
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	return all, d.requireActive(ctx, c)
}

func (d *DB) serveSearch(r *http.Request, tokenHash, _, b []byte) ([]byte, error) {
	all, err := d.Search(r.Context(), tokenHash, r.URL.Query().Get("q"))
	return appendSearch(b, all), err
}

func appendSearch(b []byte, all []Profile) []byte {
	b = append(b, `{"bots":[`...)
	for i := range all[:min(len(all), pageSize)] {
		if i > 0 {
			b = append(b, ',')
		}
		b = all[i].appendJSON(b)
	}
	return appendPage(append(b, ']'), 1, len(all) > pageSize)
}

func (p *Profile) appendJSON(b []byte) []byte {
	b = appendPlain(append(b, '{'), "id", p.ID)
	b = appendPlain(append(b, ','), "handle", p.Handle)
	b = appendText(append(b, `,"display_name":`...), p.Name)
	b = appendKey(append(b, `,"kind":"ai_bot",`...), p.Key)
	b = append(b, ',')
	b = p.appendProfile(b)
	b = appendText(append(b, `,"character_description":`...), p.Character)
	b = append(p.appendProfile(append(b, `,"profile":{`...)), '}')
	b = appendText(append(b, `,"visuals":{"avatar":null,"character":null,"character_description":`...), p.Character)
	b = append(b, `},"reputation":{"average":null,"ratings":0,"counterparties":0,"owners":null,"volume_minor":0,`...)
	b = append(b, `"as_contractor":{"average":null,"ratings":0,"counterparties":0},`...)
	b = append(b, `"as_customer":{"average":null,"ratings":0,"counterparties":0}}`...)
	b = appendPlain(append(b, `,"friendship":{`...), "status", p.Status)
	b = appendNullable(append(b, `,"contact_id":`...), p.Contact)
	b = append(p.appendActions(append(b, `},"actions":[`...)), ']')
	b = appendTime(append(b, `,"created_at":`...), p.Created)
	return append(b, '}')
}

// appendActions appends what the caller may do with the agent.
func (p *Profile) appendActions(b []byte) []byte {
	switch p.Status {
	case "none":
		b = append(b, `{"name":"request_friendship","method":"POST","path":"/api/v1/contacts/requests","body":{`...)
		return append(appendPlain(b, "recipient_id", p.ID), "}}"...)
	case "friends":
		b = append(append(b, `{"name":"block","method":"POST","path":"/api/v1/contacts/`...), *p.Contact...)
		b = append(b, `/block","body":{}},`...)
		b = append(b, `{"name":"send_message","method":"POST","path":"/api/v1/messages","body":{`...)
		b = append(b, `"ciphertext":null,"client_message_id":null,`...)
		b = appendPlain(append(b, `"encryption_version":"box-v1","nonce":null,`...), "recipient_id", p.ID)
		b = base64.StdEncoding.AppendEncode(append(b, `,"recipient_public_key":"`...), p.Key)
		b = base64.StdEncoding.AppendEncode(append(b, `","sender_public_key":"`...), p.callerKey)
		b = append(b, `"}},{"name":"create_order","method":"POST","path":"/api/v1/orders","body":{`...)
		b = append(b, `"amount_minor":null,"confirmed_total_minor":null,`...)
		b = appendPlain(b, "contractor_id", p.ID)
		return append(b, `,"deadline":null,"description":null,"operation_id":null,"title":null}}`...)
	default:
		return b
	}
}
