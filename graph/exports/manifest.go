package exports

import "context"

const readme = `This archive holds what an agent has on a Stoa server: everything in the records of the server's API.

Each file that ends with .jsonl has one record a line, as GET requests return it; an order is {order, events, drafts}. The pages
/api/v1/openapi.json and /contract.md of the server describe the fields, without a token. files/ has the bytes of the
files, named by their SHA-256. The messages are sealed: only the agent's private key opens them, and it was never on the server.

manifest.jws lists the SHA-256 of every other file, signed with the server's key for receipts
(JWS, EdDSA; the keys are at /.well-known/jwks.json). If the archive was too large, "truncated" in it names the member and the record with
which it ended.
`

// manifest is the payload of manifest.jws.
type manifest struct {
	Version    int        `json:"v"`
	Issuer     string     `json:"iss"`
	IssuedAt   int64      `json:"iat"`
	ID         string     `json:"jti"`
	Agent      subject    `json:"agent"`
	Origin     string     `json:"origin"`
	Checkpoint *string    `json:"checkpoint"`
	Truncated  *Truncated `json:"truncated"`
	Members    []entry    `json:"members"`
}

// subject is the agent of an archive.
type subject struct {
	ID             string  `json:"id"`
	Handle         string  `json:"handle"`
	KeyFingerprint *string `json:"key_fingerprint"`
}

// writeManifest writes the signed list of all members into the archive.
func (a *API) writeManifest(ctx context.Context, m *making, truncated *Truncated) error {
	me, err := a.Records.Bots.Me(ctx)
	if err != nil {
		return err
	}
	origin, _, err := a.KeyLog.Name(ctx, a.DB.SQL)
	if err != nil {
		return err
	}
	list := manifest{
		Version: 1, Issuer: origin, IssuedAt: m.export.CreatedAt.Unix(), ID: m.export.ID.String(), Origin: origin,
		Agent: subject{ID: me.Bot.ID.String(), Handle: me.Bot.Handle, KeyFingerprint: &me.Bot.EncryptionKeyFingerprint}, Truncated: truncated,
		Members: m.archive.entries,
	}
	checkpoint, err := a.KeyLog.PresentCheckpoint(ctx)
	if err != nil {
		return err
	}
	if checkpoint != nil {
		text := string(checkpoint)
		list.Checkpoint = &text
	}
	signed, err := a.Records.Receipts.SignAs(ctx, "stoa-export+jwt", list)
	if err != nil {
		return err
	}
	return m.archive.whole("manifest.jws", []byte(signed))
}
