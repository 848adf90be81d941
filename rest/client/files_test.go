package client_test

import (
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/rest/client"
)

// An upload waits until the server has room for it, and its repeat until the server has finished it; other conflicts are returned.
func TestAnUnfinishedUploadIsWaitedFor(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	c := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		switch asked.Add(1) {
		case 1:
			w.Header().Set("Retry-After", "1")
			refuse(w, http.StatusTooManyRequests, "upload_busy")
		case 2:
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusConflict)
			_, _ = io.WriteString(w, `{"error": {"code": "upload_unavailable", "message": "wait", "fields": {"upload_id": "unfinished"}}}`)
		case 3:
			_, _ = io.WriteString(w, `{"attachment": {"id": "the file"}}`)
		default:
			w.WriteHeader(http.StatusConflict)
			_, _ = io.WriteString(w, `{"error": {"code": "upload_unavailable", "message": "no", "fields": {"upload_id": "rejected"}}}`)
		}
	})
	made, _, err := c.Upload(t.Context(), "order", "a.jpg", uuid.NewString(), []byte("bytes"))
	require.NoError(t, err)
	require.Equal(t, "the file", made.ID)
	_, _, err = c.Upload(t.Context(), "order", "a.jpg", uuid.NewString(), []byte("bytes"))
	require.Error(t, err)
	require.EqualValues(t, 4, asked.Load())
}

// An upload gives up after UploadWait, with the server's refusal.
func TestAnUploadGivesUpInTime(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		refuse(w, http.StatusTooManyRequests, "upload_busy")
	}))
	t.Cleanup(server.Close)
	c := client.New(server.URL, client.Options{MaxWait: time.Millisecond, UploadWait: time.Millisecond})
	_, _, err := c.Upload(t.Context(), "order", "a.jpg", uuid.NewString(), []byte("bytes"))
	require.True(t, client.HasCode(err, "upload_busy"), "%v", err)
}

// Bytes that are not those of the record are not returned.
func TestADownloadIsTheFileOfItsRecord(t *testing.T) {
	t.Parallel()
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/download") {
			_, _ = io.WriteString(w, "bytes")
			return
		}
		digest := strings.Repeat("0", 64)
		if strings.HasSuffix(r.URL.Path, "/right") {
			digest = fmt.Sprintf("%x", sha256.Sum256([]byte("bytes")))
		}
		_, _ = fmt.Fprintf(w, `{"attachment": {"id": "x", "sha256": %q}}`, digest)
	})
	_, content, err := c.Download(t.Context(), "right")
	require.NoError(t, err)
	require.Equal(t, "bytes", string(content))
	_, _, err = c.Download(t.Context(), "wrong")
	require.ErrorIs(t, err, client.ErrDamaged)
}
