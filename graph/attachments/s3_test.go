package attachments_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	_ "gocloud.dev/blob/s3blob" // the s3 scheme of OpenStore

	"stoa/graph/attachments"
	"stoa/graph/graphtest"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/jobs"
)

// bucketServer implements the part of the S3 protocol that the file store uses: one bucket, path-style, no signatures.
type bucketServer struct {
	mu      sync.Mutex
	objects map[string][]byte
	parts   map[string][][]byte
	down    bool
}

func (b *bucketServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b.mu.Lock()
	defer b.mu.Unlock()
	body, err := io.ReadAll(r.Body)
	key, ours := strings.CutPrefix(r.URL.Path, "/bucket")
	key = strings.TrimPrefix(key, "/")
	query := r.URL.Query()
	switch {
	case b.down || err != nil || !ours:
		http.Error(w, "", http.StatusNotImplemented)
	case r.Method == http.MethodGet && key == "":
		b.list(w)
	case r.Method == http.MethodPost && query.Has("uploads"):
		b.parts[key] = nil
		fmt.Fprint(w, `<InitiateMultipartUploadResult><UploadId>1</UploadId></InitiateMultipartUploadResult>`)
	case r.Method == http.MethodPut && query.Has("partNumber"):
		b.parts[key] = append(b.parts[key], body)
		w.Header().Set("ETag", `"part"`)
	case r.Method == http.MethodPost && query.Has("uploadId"):
		b.objects[key] = slices.Concat(b.parts[key]...)
		fmt.Fprint(w, `<CompleteMultipartUploadResult><ETag>"whole"</ETag></CompleteMultipartUploadResult>`)
	case r.Method == http.MethodPut:
		b.objects[key] = body
		w.Header().Set("ETag", `"whole"`)
	case r.Method == http.MethodDelete:
		delete(b.objects, key)
		w.WriteHeader(http.StatusNoContent)
	case b.objects[key] == nil:
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, `<Error><Code>NoSuchKey</Code></Error>`)
	default:
		http.ServeContent(w, r, "", time.Now(), bytes.NewReader(b.objects[key]))
	}
}

func (b *bucketServer) list(w io.Writer) {
	type object struct {
		Key          string    `xml:"Key"`
		Size         int       `xml:"Size"`
		LastModified time.Time `xml:"LastModified"`
	}
	listed := struct {
		XMLName  xml.Name `xml:"ListBucketResult"`
		Contents []object `xml:"Contents"`
	}{}
	for key, content := range b.objects {
		listed.Contents = append(listed.Contents, object{key, len(content), time.Now()})
	}
	_ = xml.NewEncoder(w).Encode(listed) // a broken answer fails the test by itself
}

// A file has the same life in an object store as in a folder.
func TestObjectStore(t *testing.T) {
	t.Parallel()
	w := newWorldWith(t, jobs.InspectFile)
	bucket := &bucketServer{objects: map[string][]byte{}, parts: map[string][][]byte{}}
	server := httptest.NewServer(bucket)
	t.Cleanup(server.Close)
	store, err := attachments.OpenStore(context.Background(), "s3://bucket?region=anywhere&anonymous=true&endpoint="+server.URL, "")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	w.Attachments.Store = store
	agent := w.Agent()

	small, large := picture(t, 20, 20), picture(t, 1700, 1300) // the second goes in parts
	for _, original := range [][]byte{small, large} {
		card := w.upload(t, agent, attachments.Portfolio, original)
		file, err := w.Attachments.AttachmentDownload(agent.Ctx, attachments.AttachmentInput{AttachmentID: card.ID.String()})
		require.NoError(t, err)
		reader := graphtest.Got(file.Open(context.Background(), 7))(t)
		read := graphtest.Got(io.ReadAll(reader))(t)
		require.NoError(t, reader.Close())
		require.True(t, bytes.Equal(original[7:], read))
	}
	require.Len(t, bucket.objects, 6)
	w.keeps(t, 0) // nothing lies in the folder

	bucket.down = true
	graphtest.Refused(t, fault.ServiceUnavailable)(w.send(agent, newForm(attachments.Portfolio, small)))
	require.Equal(t, int64(2), w.usage(agent.ID)[2])
	bucket.down = false

	w.Shift(day)
	require.EqualValues(t, 2, w.sweep(t))
	require.Empty(t, bucket.objects)
}

// powerCut is a disk that remembers its state after a power cut at any moment: the content of files as they were last synced, and
// the names in folders as they were last synced.
type powerCut struct {
	mu       sync.Mutex
	contents map[uint64][]byte            // by inode
	names    map[string]map[string]uint64 // by folder: name to inode
	// broken makes every sync of a file or of a folder fail.
	brokenFile, brokenFolder bool
}

func newPowerCut() *powerCut {
	return &powerCut{contents: map[uint64][]byte{}, names: map[string]map[string]uint64{}}
}

func inodeOf(info os.FileInfo) uint64 { return info.Sys().(*syscall.Stat_t).Ino }

// sync replaces syncPath.
func (p *powerCut) sync(path string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return err
	case info.IsDir() && p.brokenFolder, !info.IsDir() && p.brokenFile:
		return syscall.EIO
	case !info.IsDir():
		p.contents[inodeOf(info)], err = os.ReadFile(path)
		return err
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return err
	}
	p.names[path] = map[string]uint64{}
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil {
			p.names[path][entry.Name()] = inodeOf(info)
		}
	}
	return nil
}

// left returns the content of a file under root after a power cut, and whether the file would exist.
func (p *powerCut) left(root, path string) ([]byte, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for at := path; at != filepath.Dir(root); at = filepath.Dir(at) {
		if _, there := p.names[filepath.Dir(at)][filepath.Base(at)]; !there {
			return nil, false
		}
	}
	content, there := p.contents[p.names[filepath.Dir(path)][filepath.Base(path)]]
	return content, there
}

// onDisk gives the world a store on a disk of the test, in a folder whose parents are new.
func (w *world) onDisk(t *testing.T, disk *powerCut) (root string) {
	t.Helper()
	root = filepath.Join(t.TempDir(), "data", "files")
	store := graphtest.Got(attachments.OpenFolder(root, disk.sync))(t)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	w.Attachments.Store = store
	w.folder = root
	return root
}

func pathOf(root string, id uuid.UUID, version string) string {
	name := id.String()
	return filepath.Join(root, "attachments", name[len(name)-2:], name+"."+version)
}

// The original survives a power cut before there is a record of it, and preview and copy do before the file is ready.
func TestFilesAreDurableBeforeTheirRecords(t *testing.T) {
	t.Parallel()
	w := newWorldWith(t, jobs.InspectFile)
	disk := newPowerCut()
	root := w.onDisk(t, disk)
	agent := w.Agent()
	enqueue := w.Attachments.Enqueue
	var f form
	recorded := 0
	w.Attachments.Enqueue = func(ctx context.Context, tx *db.Tx, job db.Job) error { // in the transaction of the record
		content, there := disk.left(root, pathOf(root, job.(attachments.InspectJob).AttachmentID, "original"))
		require.True(t, there)
		require.True(t, bytes.Equal(f.bytes, content))
		recorded++
		return enqueue(ctx, tx, job)
	}
	for range 3 {
		f = newForm(attachments.Portfolio, picture(t, 30, 30))
		sent := graphtest.Got(w.send(agent, f))(t)
		for version, column := range map[string]string{"original": "sha256", "preview": "preview_sha256", "published": "published_sha256"} {
			content, there := disk.left(root, pathOf(root, sent.Attachment.ID, version))
			require.True(t, there, version)
			sum := sha256.Sum256(content)
			require.EqualValues(t, 1, w.Count("SELECT count(*) FROM attachments WHERE id = $1 AND "+column+" = $2", sent.Attachment.ID, sum[:]), version)
		}
	}
	require.Equal(t, 3, recorded)
}

// If the disk cannot make a file durable, nothing stays: no answer, no record, no bytes, no reservation.
func TestDiskThatCannotSync(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for name, set := range map[string]func(*powerCut, bool){
		"file":   func(p *powerCut, broken bool) { p.brokenFile = broken },
		"folder": func(p *powerCut, broken bool) { p.brokenFolder = broken },
	} {
		t.Run(name, func(t *testing.T) {
			disk := newPowerCut()
			w.onDisk(t, disk)
			agent := w.Agent()
			f, kept := newForm(attachments.Order, picture(t, 8, 8)), newForm(attachments.Order, picture(t, 8, 8))
			graphtest.OK(t)(w.send(agent, kept))
			used := w.usage(agent.ID)
			set(disk, true)
			_, err := w.send(agent, f)
			refused := graphtest.RequireFault(t, err, fault.ServiceUnavailable)
			require.ErrorIs(t, errors.Unwrap(refused), syscall.EIO)
			require.Positive(t, refused.Retry())
			require.Equal(t, used, w.usage(agent.ID))
			require.True(t, graphtest.Got(w.send(agent, kept))(t).IsRepeat(), "a repeat needs no store")
			w.keeps(t, 2)
			require.Zero(t, w.underWay())
			set(disk, false)
			graphtest.OK(t)(w.send(agent, f))
		})
	}
}

// A server asks the kernel to sync, which refuses files and folders of /proc.
func TestTheDiskSyncs(t *testing.T) {
	t.Parallel()
	require.ErrorIs(t, attachments.SyncPath("/proc/version"), syscall.EINVAL)
	require.ErrorIs(t, attachments.SyncPath("/proc"), syscall.EINVAL)
	require.NoError(t, attachments.SyncPath(t.TempDir()))
}

func noSync(string) error { return nil }

// BenchmarkFolderWrite measures the cost of durability for a file of 100 kB and for one of 20 MiB.
func BenchmarkFolderWrite(b *testing.B) {
	for name, open := range map[string]func(string) (*attachments.Store, error){
		"durable": func(folder string) (*attachments.Store, error) {
			return attachments.OpenStore(context.Background(), "", folder)
		},
		"unsynced": func(folder string) (*attachments.Store, error) { return attachments.OpenFolder(folder, noSync) },
	} {
		for size, n := range map[string]int{"100kB": 100_000, "20MiB": 20 << 20} {
			b.Run(size+"/"+name, func(b *testing.B) {
				store := graphtest.Got(open(b.TempDir()))(b)
				content := make([]byte, n)
				for b.Loop() {
					id := uuid.NewString()
					require.NoError(b, store.WriteAll(context.Background(), "attachments/"+id[34:]+"/"+id+".original", content, nil))
				}
			})
		}
	}
}
