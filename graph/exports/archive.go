package exports

import (
	"archive/zip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"time"

	"github.com/google/uuid"

	"stoa/graph/attachments"
	"stoa/graph/platform/wire"
)

const (
	// maxBytes bounds an archive.
	maxBytes = 4 << 30
	// overhead bounds a member's size in the ZIP directory and the manifest, without four bytes for each byte of its name.
	overhead = 512
)

// memberTime is the time of every member, the first that ZIP files know.
var memberTime = time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)

// errFull means that an archive has no room for the next record.
var errFull = errors.New("exports: the archive is full")

// entry is one member of an archive, as the manifest lists it. Part is 1: archives once had several.
type entry struct {
	Name      string `json:"name"`
	Part      int    `json:"part"`
	SizeBytes int64  `json:"size_bytes"`
	SHA256    string `json:"sha256"`
}

// counter counts the bytes that are written through it.
type counter struct {
	io.Writer

	size int64
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.Writer.Write(p)
	c.size += int64(n)
	return n, err
}

// archive streams the members of an export into one ZIP file of the store.
type archive struct {
	cancel context.CancelFunc
	key    string
	// room is the number of bytes that may still be written.
	room    int64
	entries []entry

	object  io.WriteCloser
	zip     *zip.Writer
	written *counter
	sum     hash.Hash
}

// prefixOf is the start of the keys of all objects of an export.
func prefixOf(export uuid.UUID) string { return "exports/" + export.String() + "/" }

// newArchive begins an archive under a new name. Call abandon.
func newArchive(ctx context.Context, store *attachments.Store, export uuid.UUID, room int64) (*archive, error) {
	a := &archive{key: prefixOf(export) + uuid.NewString() + ".zip", room: room, sum: sha256.New()}
	ctx, a.cancel = context.WithCancel(ctx)
	object, err := store.NewWriter(ctx, a.key, attachments.WriterOptions("application/zip"))
	if err != nil {
		a.cancel()
		return nil, err
	}
	a.object, a.written = object, &counter{Writer: io.MultiWriter(object, a.sum)}
	a.zip = zip.NewWriter(a.written)
	return a, nil
}

// close ends the ZIP file; afterwards it is in the store.
func (a *archive) close() error {
	if err := a.zip.Close(); err != nil {
		return err
	}
	err := a.object.Close()
	a.object = nil
	return err
}

// abandon cancels the upload, so that the store keeps no incomplete archive. It does nothing after close.
func (a *archive) abandon() {
	a.cancel()
	if a.object != nil {
		_ = a.object.Close() // it was cancelled
	}
}

// take subtracts bytes from the room. It returns errFull if the room is too small.
func (a *archive) take(size int64) error {
	if size > a.room {
		return errFull
	}
	a.room -= size
	return nil
}

// put writes a member and lists it, also if the member is cut because the archive is full.
func (a *archive) put(name string, method uint16, write func(to io.Writer) error) error {
	to, err := a.zip.CreateHeader(&zip.FileHeader{Name: name, Method: method, Modified: memberTime})
	if err != nil {
		return err
	}
	sum := sha256.New()
	member := &counter{Writer: io.MultiWriter(to, sum)}
	err = write(member)
	a.entries = append(a.entries, entry{Name: name, Part: 1, SizeBytes: member.size, SHA256: hex.EncodeToString(sum.Sum(nil))})
	return err
}

// whole writes a member of a few bytes, for which there is always room.
func (a *archive) whole(name string, content []byte) error {
	return a.put(name, zip.Deflate, func(to io.Writer) error {
		_, err := to.Write(content)
		return err
	})
}

// lines writes a member of records as lines of JSON, each by a call of line.
func (a *archive) lines(name string, write func(line func(record any) error) error) error {
	if err := a.take(int64(overhead + 4*len(name))); err != nil {
		return err
	}
	return a.put(name, zip.Deflate, func(to io.Writer) error {
		return write(func(record any) error {
			raw, err := wire.Marshal(record)
			if err != nil {
				return err
			}
			if err := a.take(int64(len(raw)) + 1); err != nil {
				return err
			}
			_, err = to.Write(append(raw, '\n'))
			return err
		})
	})
}

// copy writes a member of known size from a reader, without compression.
func (a *archive) copy(name string, size int64, from io.Reader) error {
	if err := a.take(size + int64(overhead+4*len(name))); err != nil {
		return err
	}
	return a.put(name, zip.Store, func(to io.Writer) error {
		_, err := io.Copy(to, from)
		return err
	})
}

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
		list.Checkpoint = new(string(checkpoint))
	}
	signed, err := a.Records.Receipts.SignAs(ctx, "stoa-export+jwt", list)
	if err != nil {
		return err
	}
	return m.archive.whole("manifest.jws", []byte(signed))
}
