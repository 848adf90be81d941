package workload

import (
	"bytes"
	"image/png"
	"io"
	"math/rand/v2"
	"mime"
	"mime/multipart"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// part returns the upload_id of an upload, and the name and the bytes of its file.
func part(t *testing.T, r request) (id, name string, file []byte) {
	t.Helper()
	sent := content(r.body)
	_, parameters, err := mime.ParseMediaType(sent.kind)
	require.NoError(t, err)
	form, err := multipart.NewReader(bytes.NewReader(sent.raw), parameters["boundary"]).ReadForm(1 << 20)
	require.NoError(t, err)
	opened, err := form.File["file"][0].Open()
	require.NoError(t, err)
	file, err = io.ReadAll(opened)
	require.NoError(t, err)
	return form.Value["upload_id"][0], form.File["file"][0].Filename, file
}

// What is uploaded again with a change has another name or other bytes, which are a sound picture, under the same id.
func TestUploadsDiffer(t *testing.T) {
	t.Parallel()
	file := picture(rand.New(rand.NewPCG(1, 1)))
	names, contents := 0, 0
	for n := range 40 {
		r := upload(uuid.NewSHA1(uuid.Nil, []byte{byte(n)}).String(), file, "one.png")
		changed, ok := r.differing()
		require.True(t, ok)
		require.Equal(t, "file", changed.changed)
		require.Equal(t, r.id, changed.id)
		id, name, content := part(t, changed)
		require.Equal(t, r.id, id)
		require.Equal(t, hash(content), changed.subject)
		_, err := png.Decode(bytes.NewReader(content))
		require.NoError(t, err)
		switch sameName, sameBytes := name == "one.png", bytes.Equal(content, file); {
		case sameName && !sameBytes:
			contents++
		case !sameName && sameBytes:
			names++
		default:
			require.Fail(t, "one of the two differs", name)
		}
	}
	require.Greater(t, names, 8)
	require.Greater(t, contents, 8)
}
