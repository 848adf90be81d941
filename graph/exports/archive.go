package exports

import (
	"archive/zip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"

	"github.com/google/uuid"
	"gocloud.dev/blob"

	"stoa/graph/platform/wire"
)

const (
	// maxBytes bounds an archive.
	maxBytes = 4 << 30
	// overhead bounds what a member takes in the directory of the ZIP file and in the manifest, beside four bytes for each of its name.
	overhead = 512
	// writeBuffer is the memory of one writer of an object store.
	writeBuffer = 5 << 20
)

// errFull says that an archive has no room for the next record.
var errFull = errors.New("exports: the archive is full")

// entry is one member of an archive, as the manifest lists it. Part is 1: archives once had several.
type entry struct {
	Name      string `json:"name"`
	Part      int    `json:"part"`
	SizeBytes int64  `json:"size_bytes"`
	SHA256    string `json:"sha256"`
}

// archive streams the members of an export into one ZIP file of the store.
type archive struct {
	cancel context.CancelFunc
	key    string
	// room is how many bytes it may still take.
	room    int64
	entries []entry

	object *blob.Writer
	zip    *zip.Writer
	sum    hash.Hash
	size   int64
	// The member that is being written.
	member    entry
	to        io.Writer
	memberSum hash.Hash
}

// prefixOf is the start of the keys of all objects of an export.
func prefixOf(export uuid.UUID) string { return "exports/" + export.String() + "/" }

// newArchive begins an archive under a new name. Call abandon.
func newArchive(ctx context.Context, store *blob.Bucket, export uuid.UUID, room int64) (*archive, error) {
	a := &archive{key: prefixOf(export) + uuid.NewString() + ".zip", room: room, sum: sha256.New()}
	ctx, a.cancel = context.WithCancel(ctx)
	object, err := store.NewWriter(ctx, a.key, &blob.WriterOptions{
		ContentType: "application/zip", DisableContentTypeDetection: true, BufferSize: writeBuffer, MaxConcurrency: 1,
	})
	if err != nil {
		a.cancel()
		return nil, err
	}
	a.object, a.zip = object, zip.NewWriter(a)
	return a, nil
}

// Write implements io.Writer for the ZIP file.
func (a *archive) Write(p []byte) (int, error) {
	n, err := a.object.Write(p)
	a.sum.Write(p[:n])
	a.size += int64(n)
	return n, err
}

// close ends the ZIP file, which is in the store then.
func (a *archive) close() error {
	if err := a.zip.Close(); err != nil {
		return err
	}
	err := a.object.Close()
	a.object = nil
	return err
}

// abandon gives up what is being written, so that the store keeps no half of it. It does nothing after close.
func (a *archive) abandon() {
	a.cancel()
	if a.object != nil {
		_ = a.object.Close() // it was cancelled
	}
}

// take takes bytes from the room; errFull if they are not there.
func (a *archive) take(size int64) error {
	if size > a.room {
		return errFull
	}
	a.room -= size
	return nil
}

// begin begins a member.
func (a *archive) begin(name string, method uint16) (err error) {
	a.member, a.memberSum = entry{Name: name, Part: 1}, sha256.New()
	a.to, err = a.zip.CreateHeader(&zip.FileHeader{Name: name, Method: method})
	return err
}

func (a *archive) write(p []byte) error {
	n, err := a.to.Write(p)
	a.memberSum.Write(p[:n])
	a.member.SizeBytes += int64(n)
	return err
}

// end ends the present member and lists it.
func (a *archive) end() {
	a.member.SHA256 = hex.EncodeToString(a.memberSum.Sum(nil))
	a.entries = append(a.entries, a.member)
}

// whole writes a member of a few bytes, for which there is always room.
func (a *archive) whole(name string, content []byte) error {
	if err := a.begin(name, zip.Deflate); err != nil {
		return err
	}
	defer a.end()
	return a.write(content)
}

// lines begins a member of records as lines of JSON.
func (a *archive) lines(name string) error {
	if err := a.take(int64(overhead + 4*len(name))); err != nil {
		return err
	}
	return a.begin(name, zip.Deflate)
}

// line writes one record.
func (a *archive) line(record any) error {
	raw, err := wire.Marshal(record)
	if err != nil {
		return err
	}
	if err := a.take(int64(len(raw)) + 1); err != nil {
		return err
	}
	return a.write(append(raw, '\n'))
}

// copy writes a member of known size from a reader, without compression.
func (a *archive) copy(name string, size int64, from io.Reader) error {
	if err := a.take(size + int64(overhead+4*len(name))); err != nil {
		return err
	}
	if err := a.begin(name, zip.Store); err != nil {
		return err
	}
	defer a.end()
	_, err := io.Copy(memberWriter{a}, from)
	return err
}

// memberWriter writes the present member.
type memberWriter struct{ *archive }

// Write implements io.Writer.
func (m memberWriter) Write(p []byte) (int, error) { return len(p), m.write(p) }
