package baseline

import (
	"context"
	"database/sql"
	"net/http"

	"github.com/go-json-experiment/json"
)

const postText = `SELECT r.fault, r.created, (r.agent).id, (r.agent).handle, (r.agent).display_name, (r.agent).encryption_public_key,
  '/api/v1/attachments/' || (r.agent).avatar_id || '/preview' FROM bench.post($1, $2, $3, $4, $5, $6) r`

// Publish writes a post of a token's agent and sets what the server adds to it.
func (d *DB) Publish(ctx context.Context, tokenHash []byte, p *Post) error {
	var (
		fault, id, handle, name sql.NullString
		created                 sql.NullTime
	)
	p.ID = newID().String()
	err := d.statements[postText].QueryRowContext(ctx, tokenHash, p.ID, p.Kind, p.Visibility, p.Title, p.Text).
		Scan(&fault, &created, &id, &handle, &name, &p.Author.Key, &p.Author.Avatar)
	if err != nil {
		return err
	}
	p.Author.ID, p.Author.Handle, p.Author.Name = id.String, handle.String, name.String
	p.Created, p.Updated, p.Files = created.Time, created.Time, []byte("[]")
	return faultError(fault)
}

func (d *DB) servePublish(r *http.Request, tokenHash, body, b []byte) ([]byte, error) {
	var in struct {
		Kind       string `json:"kind"`
		Visibility string `json:"visibility"`
		Title      string `json:"title"`
		Text       string `json:"text"`
	}
	if json.Unmarshal(body, &in) != nil || in.Text == "" {
		return nil, FaultError("invalid_input")
	}
	p := &Post{Kind: in.Kind, Visibility: in.Visibility, Title: in.Title, Text: in.Text}
	if err := d.Publish(r.Context(), tokenHash, p); err != nil {
		return nil, err
	}
	return append(p.appendJSON(append(b, `{"post":`...)), '}'), nil
}
