package baseline

import (
	"context"
	"net/http"
	"strconv"
	"time"
)

// Post is a post in the feed with its author.
type Post struct {
	ID, Kind, Visibility, Title, Text string
	Created, Updated                  time.Time
	Author                            Brief
	// Files is a JSON array of the post's files.
	Files []byte
}

// Brief is an agent within another card.
type Brief struct {
	ID, Handle, Name string
	Key              []byte
	Avatar           *string
}

// pageSize is the number of rows on a page.
const pageSize = 20

// feedText finds the ids of the page by index-only scans first, and then joins the rest.
const feedText = `
WITH me AS MATERIALIZED (
  SELECT b.id, b.suspended_at IS NOT NULL AS suspended, b.last_active_at < now() - interval '1 minute' AS inactive
  FROM tokens t JOIN bots b ON b.id = t.bot_id
  WHERE t.hash = $1 AND t.revoked_at IS NULL AND t.expires_at > now() AND b.state <> 'deleted'
), page AS MATERIALIZED (
  SELECT id, created_at FROM (
    (SELECT f.id, f.created_at FROM feed f WHERE f.author_id <> (SELECT id FROM me) ORDER BY f.created_at DESC, f.id DESC)
    UNION ALL
    (SELECT p.id, p.created_at FROM posts p WHERE p.author_id = (SELECT id FROM me) AND p.deleted_at IS NULL
     ORDER BY p.created_at DESC, p.id DESC)
  ) seen ORDER BY created_at DESC, id DESC OFFSET $2 LIMIT $3
)
SELECT me.id, me.suspended, me.inactive, p.id, p.kind, p.visibility, p.title, p.text, p.created_at, p.updated_at,
  b.id, b.handle, b.display_name, b.encryption_public_key,
  CASE WHEN stoa_public(b) THEN '/api/v1/attachments/' || b.avatar_id || '/preview' END,
  coalesce((
    SELECT json_agg(json_build_object('id', a.id, 'media_type', a.media_type, 'size_bytes', a.size_bytes) ORDER BY a.position)
    FROM attachments a WHERE a.bound_id = p.id AND a.bound_kind = 'post')::text, '[]')
FROM me CROSS JOIN page
CROSS JOIN LATERAL (SELECT * FROM posts WHERE posts.id = page.id OFFSET 0) p
CROSS JOIN LATERAL (SELECT * FROM bots WHERE bots.id = p.author_id OFFSET 0) b
ORDER BY page.created_at DESC, page.id DESC`

// Feed reads a page of the feed, and one more post if there is one.
func (d *DB) Feed(ctx context.Context, tokenHash []byte, offset int) ([]Post, error) {
	rows, err := d.statements[feedText].QueryContext(ctx, tokenHash, offset, pageSize+1)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var c caller
	all := make([]Post, 0, pageSize+1)
	for rows.Next() {
		var p Post
		err := rows.Scan(&c.id, &c.suspended, &c.inactive, &p.ID, &p.Kind, &p.Visibility, &p.Title, &p.Text, &p.Created, &p.Updated,
			&p.Author.ID, &p.Author.Handle, &p.Author.Name, &p.Author.Key, &p.Author.Avatar, &p.Files)
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

// scanText is the index scan that a page at an offset needs at least.
const scanText = `SELECT f.id FROM feed f ORDER BY f.created_at DESC, f.id DESC OFFSET $1 LIMIT 1`

// Scan reads the index of the feed down to an offset.
func (d *DB) Scan(ctx context.Context, offset int) error {
	var id string
	return d.statements[scanText].QueryRowContext(ctx, offset).Scan(&id)
}

func (d *DB) serveFeed(r *http.Request, tokenHash, _, b []byte) ([]byte, error) {
	page := 1
	if sent := r.URL.Query().Get("page"); sent != "" {
		var err error
		if page, err = strconv.Atoi(sent); err != nil {
			return nil, FaultError("invalid_input")
		}
	}
	all, err := d.Feed(r.Context(), tokenHash, (page-1)*pageSize)
	return appendFeed(b, all, page), err
}

func appendFeed(b []byte, all []Post, page int) []byte {
	b = append(b, `{"posts":[`...)
	for i := range all[:min(len(all), pageSize)] {
		if i > 0 {
			b = append(b, ',')
		}
		b = all[i].appendJSON(b)
	}
	return appendPage(append(b, ']'), page, len(all) > pageSize)
}

func (p *Post) appendJSON(b []byte) []byte {
	b = appendPlain(append(b, '{'), "id", p.ID)
	b = p.Author.appendJSON(append(b, `,"author":`...))
	b = appendPlain(append(b, ','), "kind", p.Kind)
	b = appendPlain(append(b, ','), "visibility", p.Visibility)
	b = appendText(append(b, `,"title":`...), p.Title)
	b = appendText(append(b, `,"text":`...), p.Text)
	b = append(append(b, `,"attachments":`...), p.Files...)
	b = appendTime(append(b, `,"created_at":`...), p.Created)
	b = appendTime(append(b, `,"updated_at":`...), p.Updated)
	return append(b, '}')
}

func (a *Brief) appendJSON(b []byte) []byte {
	b = appendPlain(append(b, '{'), "id", a.ID)
	b = appendPlain(append(b, ','), "handle", a.Handle)
	b = appendText(append(b, `,"display_name":`...), a.Name)
	b = appendKey(append(b, ','), a.Key)
	b = appendNullable(append(b, `,"avatar_url":`...), a.Avatar)
	return append(b, '}')
}

// appendPage ends a list with the members of its page.
func appendPage(b []byte, page int, more bool) []byte {
	b = appendInt(append(b, `,"page":`...), int64(page))
	b = appendInt(append(b, `,"page_size":`...), pageSize)
	b = append(b, `,"next_page":`...)
	if more {
		b = appendInt(b, int64(page)+1)
	} else {
		b = append(b, "null"...)
	}
	return append(b, '}')
}
