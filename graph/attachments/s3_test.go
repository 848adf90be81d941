package attachments_test

import (
	"bytes"
	"context"
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	_ "gocloud.dev/blob/s3blob" // the s3 scheme of OpenStore

	"stoa/graph/attachments"
	"stoa/graph/graphtest"
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
		reader, err := file.Open(context.Background(), 7)
		require.NoError(t, err)
		read, err := io.ReadAll(reader)
		require.NoError(t, err)
		require.NoError(t, reader.Close())
		require.True(t, bytes.Equal(original[7:], read))
	}
	require.Len(t, bucket.objects, 6)
	w.keeps(t, 0) // nothing lies in the folder

	bucket.down = true
	_, err = w.send(agent, newForm(attachments.Portfolio, small))
	graphtest.RequireFault(t, err, fault.ServiceUnavailable)
	require.Equal(t, int64(2), w.usage(agent.ID)[2])
	bucket.down = false

	w.Shift(day)
	require.EqualValues(t, 2, w.sweep(t))
	require.Empty(t, bucket.objects)
}
