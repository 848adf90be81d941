package attachments_test

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/jpeg"
	"image/png"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/attachments"
	"stoa/graph/graphtest"
	"stoa/graph/platform/db"
	"stoa/graph/platform/slack"
	"stoa/jobs/inspection/inspectiontest"
)

// TestMain makes the test binary the program that inspects files.
func TestMain(m *testing.M) {
	inspectiontest.Main()
	os.Exit(m.Run())
}

// world is a world with a file store and an inspector.
type world struct {
	*graphtest.World
	folder string
}

// newWorld makes a world for tests of uploads, not of inspections: its inspector reads only the head of a picture.
func newWorld(t *testing.T, options ...graphtest.Option) *world {
	t.Helper()
	return newWorldWith(t, inspectHead, options...)
}

// newWorldWith makes a world with the given inspector; jobs.InspectFile is the server's.
func newWorldWith(t *testing.T, inspect attachments.Inspector, options ...graphtest.Option) *world {
	t.Helper()
	made := graphtest.New(t, options...)
	return &world{made, made.InspectWith(inspect)}
}

// magic holds the first bytes of files of a format.
var magic = map[string]string{"jpeg": "\xff\xd8\xff", "png": "\x89PNG\r\n\x1a\n"}

// inspectHead accepts files that begin like a picture, without a child process.
func inspectHead(_ context.Context, original *os.File, purpose attachments.Purpose) (attachments.Report, error) {
	shape, format, err := image.DecodeConfig(original)
	if err != nil {
		return attachments.Report{Reason: "It is no picture."}, nil //nolint:nilerr // a refusal
	}
	made := []byte(magic[format] + "made for " + string(purpose))
	report := attachments.Report{Accepted: true, MediaType: "image/" + format, Width: shape.Width, Height: shape.Height, Preview: made}
	if purpose != attachments.Order && (format == "png" || max(shape.Width, shape.Height) > 1024) {
		report.Published = made
	}
	return report, nil
}

// dismissWorkers ends inspections: an upload waits for a moment and returns upload_busy.
func (w *world) dismissWorkers() {
	w.Attachments.Enqueue = func(context.Context, *db.Tx, db.Job) error { return nil }
	w.Attachments.InspectionWait = time.Millisecond
}

// recovered frees the places of dead processes, and returns the number of inspections that it adds again.
func (w *world) recovered(t *testing.T) int {
	t.Helper()
	return graphtest.Got(w.Attachments.Recover(context.Background()))(t)
}

// awaitPending waits until that many uploads wait for their inspections.
func (w *world) awaitPending(t *testing.T, uploads int64) {
	t.Helper()
	require.Eventually(t, func() bool { return w.Count("SELECT count(*) FROM attachments WHERE status = 'pending'") == uploads },
		slack.TestWait, time.Millisecond)
}

// picture is a PNG of noise that is different every time.
func picture(t *testing.T, width, height int) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, png.Encode(&b, noise(width, height)))
	return b.Bytes()
}

func photo(t *testing.T, width, height int) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, jpeg.Encode(&b, noise(width, height), nil))
	return b.Bytes()
}

func noise(width, height int) image.Image {
	m := image.NewNRGBA(image.Rect(0, 0, width, height))
	for i := range m.Pix {
		m.Pix[i] = byte(rand.Uint32())
		if i%4 == 3 {
			m.Pix[i] = 255
		}
	}
	return m
}

// form is an upload as it was sent; sending it again repeats it.
type form struct {
	name, purpose, uploadID string
	bytes                   []byte
}

func newForm(purpose attachments.Purpose, b []byte) form {
	return form{name: "file.bin", purpose: string(purpose), uploadID: uuid.NewString(), bytes: b}
}

// send uploads a form through the method that REST calls.
func (w *world) send(by *graphtest.Agent, f form) (*attachments.UploadResult, error) {
	return sendTo(by.Ctx, w.Attachments, f)
}

func sendTo(ctx context.Context, api *attachments.API, f form) (*attachments.UploadResult, error) {
	draft, err := api.NewDraft(ctx, announced(f))
	if err != nil {
		return nil, err
	}
	defer draft.Discard()
	if _, err := draft.Write(f.bytes); err != nil {
		return nil, err
	}
	return api.UploadAttachment(ctx, attachments.UploadInput{File: draft, FileName: &f.name, Purpose: &f.purpose, UploadID: &f.uploadID})
}

// announced is the length of a form in bytes, or -1 as from a client that does not send it.
func announced(f form) int64 {
	if rand.IntN(2) == 0 {
		return -1
	}
	return int64(len(f.bytes)) + 300
}

// upload is a ready file of an agent.
func (w *world) upload(t *testing.T, by *graphtest.Agent, purpose attachments.Purpose, b []byte) *attachments.Card {
	t.Helper()
	return graphtest.Got(w.send(by, newForm(purpose, b)))(t).Attachment
}

// stored lists the objects of the store.
func (w *world) stored(t *testing.T) []string {
	t.Helper()
	var names []string
	require.NoError(t, filepath.WalkDir(w.folder, func(path string, entry os.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err == nil && !entry.IsDir() {
			names = append(names, filepath.Base(path))
		}
		return err
	}))
	return names
}

// keeps waits until that many objects are stored: the objects of a refused upload are deleted after its answer.
func (w *world) keeps(t *testing.T, objects int) {
	t.Helper()
	require.Eventually(t, func() bool { return len(w.stored(t)) == objects }, slack.TestWait, 5*time.Millisecond, "%d objects", objects)
}

// usage returns the row of storage_usage of an agent, or of all for uuid.Nil: bytes, files, records.
func (w *world) usage(agent uuid.UUID) (u [3]int64) {
	for i, column := range []string{"bytes", "files", "records"} {
		u[i] = w.Count("SELECT coalesce(sum("+column+"), 0) FROM storage_usage WHERE agent_id = $1", agent)
	}
	return u
}

// underWay is how many uploads hold a reservation.
func (w *world) underWay() int64 { return w.Count("SELECT count(*) FROM upload_reservations") }

// pending is the id of the one upload that waits for its inspection.
func (w *world) pending() (id uuid.UUID) {
	_ = w.DB.SQL.Pool.QueryRow("SELECT id FROM attachments WHERE status = 'pending'").Scan(&id) // without such a file the id stays empty
	return id
}
