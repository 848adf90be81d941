package exports

import (
	"archive/zip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"path"
	"strings"

	"github.com/google/uuid"
	"gocloud.dev/blob"

	"stoa/graph/platform/wire"
)

const (
	// partBytes is the size of a part, maxParts how many an export has.
	partBytes = 256 << 20
	maxParts  = 16
	// A part leaves the 64th of its bytes for the directory of the ZIP file, for what compression adds to data that it cannot shrink, and for the
	// last members.
	spareShare = 64
	// writeBuffer is the memory of one writer of an object store.
	writeBuffer = 5 << 20
)

// errFull says that an archive has no room for the next record.
var errFull = errors.New("exports: the archive is full")

// entry is one member of an archive, as the manifest lists it.
type entry struct {
	Name      string `json:"name"`
	Part      int    `json:"part"`
	SizeBytes int64  `json:"size_bytes"`
	SHA256    string `json:"sha256"`
}

// archive writes the members of an export into parts.
type archive struct {
	ctx    context.Context //nolint:containedctx // it lives as long as the call of Make
	cancel context.CancelFunc
	store  *blob.Bucket
	prefix string
	// most is the size of a part, room how many bytes all parts may still take.
	most, room int64

	entries []entry
	parts   []partRow
	// The part that is being written, how much it holds, and the member in it.
	object  *blob.Writer
	zip     *zip.Writer
	sum     hash.Hash
	written int64
	used    int64
	member  *memberWriter
}

// memberWriter writes one member.
type memberWriter struct {
	name string
	to   io.Writer
	sum  hash.Hash
	size int64
}

// prefixOf is the start of the keys of all objects of an export.
func prefixOf(export uuid.UUID) string { return "exports/" + export.String() + "/" }

func newArchive(ctx context.Context, store *blob.Bucket, export uuid.UUID, most, room int64) *archive {
	ctx, cancel := context.WithCancel(ctx)
	return &archive{ctx: ctx, cancel: cancel, store: store, prefix: prefixOf(export) + uuid.NewString(), most: most, room: room}
}

// Write implements io.Writer for the ZIP file of the present part.
func (a *archive) Write(p []byte) (int, error) {
	n, err := a.object.Write(p)
	a.sum.Write(p[:n])
	a.written += int64(n)
	return n, err
}

// fits reports whether the present part has room for a number of bytes.
func (a *archive) fits(size int64) bool {
	return a.zip != nil && a.used+size <= a.most-a.most/spareShare
}

// nextPart ends the present part and begins another; errFull if there may be none.
func (a *archive) nextPart() error {
	if len(a.parts) == maxParts {
		return errFull
	}
	if err := a.endPart(); err != nil {
		return err
	}
	key := fmt.Sprintf("%s.%02d.zip", a.prefix, len(a.parts)+1)
	object, err := a.store.NewWriter(a.ctx, key, &blob.WriterOptions{
		ContentType: "application/zip", DisableContentTypeDetection: true, BufferSize: writeBuffer, MaxConcurrency: 1,
	})
	if err != nil {
		return err
	}
	a.parts = append(a.parts, partRow{N: len(a.parts) + 1, Object: key})
	a.object, a.sum, a.written, a.used = object, sha256.New(), 0, 0
	a.zip = zip.NewWriter(a)
	return nil
}

func (a *archive) endPart() error {
	if a.zip == nil {
		return nil
	}
	err := a.zip.Close()
	a.zip = nil
	if err != nil {
		return err
	}
	if err := a.object.Close(); err != nil {
		return err
	}
	last := &a.parts[len(a.parts)-1]
	last.SizeBytes, last.SHA256 = a.written, a.sum.Sum(nil)
	a.object = nil
	return nil
}

// begin begins a member in the present part, or in the next one if that has no room for its first bytes.
func (a *archive) begin(name string, method uint16, first int64) error {
	if err := a.take(first); err != nil {
		return err
	}
	if !a.fits(first + overhead(name)) {
		if err := a.nextPart(); err != nil {
			return err
		}
	}
	to, err := a.zip.CreateHeader(&zip.FileHeader{Name: name, Method: method})
	if err != nil {
		return err
	}
	a.used += overhead(name)
	a.member = &memberWriter{name: name, to: to, sum: sha256.New()}
	return nil
}

// overhead bounds what a member takes in a ZIP file beside its bytes.
func overhead(name string) int64 { return int64(256 + 2*len(name)) }

// take takes bytes from the room of the whole export.
func (a *archive) take(size int64) error {
	if size > a.room {
		return errFull
	}
	a.room -= size
	return nil
}

func (a *archive) write(p []byte) error {
	n, err := a.member.to.Write(p)
	a.member.sum.Write(p[:n])
	a.member.size += int64(n)
	a.used += int64(n)
	return err
}

// end ends the present member and lists it.
func (a *archive) end() {
	if m := a.member; m != nil {
		a.entries = append(a.entries, entry{m.name, len(a.parts), m.size, hex.EncodeToString(m.sum.Sum(nil))})
		a.member = nil
	}
}

// whole writes a member of a few bytes into the present part, which has spare room for it.
func (a *archive) whole(name string, content []byte) error {
	if a.zip == nil {
		if err := a.nextPart(); err != nil {
			return err
		}
	}
	to, err := a.zip.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate})
	if err != nil {
		return err
	}
	a.member = &memberWriter{name: name, to: to, sum: sha256.New()}
	if err := a.write(content); err != nil {
		return err
	}
	a.end()
	return nil
}

// lines writes records as lines of JSON. A member that does not fit into a part goes on in the next one, under a name with a number.
type lines struct {
	archive *archive
	name    string
	files   int
}

func (a *archive) lines(name string) (*lines, error) {
	l := &lines{archive: a, name: name}
	return l, l.open(0)
}

func (l *lines) open(first int64) error {
	l.files++
	name := l.name
	if l.files > 1 {
		extension := path.Ext(name)
		name = fmt.Sprintf("%s.%d%s", strings.TrimSuffix(name, extension), l.files, extension)
	}
	return l.archive.begin(name, zip.Deflate, first)
}

// add writes one record.
func (l *lines) add(record any) error {
	raw, err := wire.Marshal(record)
	if err != nil {
		return err
	}
	raw = append(raw, '\n')
	size := int64(len(raw))
	if l.archive.fits(size) {
		if err := l.archive.take(size); err != nil {
			return err
		}
		return l.archive.write(raw)
	}
	l.archive.end()
	if err := l.open(size); err != nil {
		return err
	}
	return l.archive.write(raw)
}

// copy writes a member of known size from a reader, without compression.
func (a *archive) copy(name string, size int64, from io.Reader) error {
	if err := a.begin(name, zip.Store, size); err != nil {
		return err
	}
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		if n > 0 {
			if err := a.write(buffer[:n]); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
	}
	a.end()
	return nil
}

// abandon gives up what is being written, so that the store keeps no half part.
func (a *archive) abandon() {
	a.cancel()
	if a.object != nil {
		_ = a.object.Close() // it was cancelled
	}
}
