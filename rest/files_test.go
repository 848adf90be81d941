package rest_test

import (
	"bytes"
	"encoding/json"
	"image"
	"image/jpeg"
	"image/png"
	"io"
	"math/rand/v2"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/jobs"
	"stoa/jobs/inspection/inspectiontest"
	"stoa/rest/resttest"
)

// TestMain makes the test binary also the inspection program, and checks all answers against the description.
func TestMain(m *testing.M) {
	inspectiontest.Main()
	code := resttest.Main(m, resttest.Complete)
	shared.Close()
	files.Close()
	restricting.Close()
	os.Exit(code)
}

// newFileSite returns a site with a file store and the real inspection.
func newFileSite(t testing.TB, options ...graphtest.Option) *site {
	t.Helper()
	s := newSite(t, options...)
	s.InspectWith(jobs.InspectFile)
	return s
}

// part of a form; a plain value has a nil file name.
type part struct {
	name, fileName string
	bytes          []byte
	plain          bool
}

func value(name, text string) part { return part{name: name, bytes: []byte(text), plain: true} }

func file(name string, b []byte) part { return part{name: "file", fileName: name, bytes: b} }

// upload returns the form of an upload as an agent sends it.
func uploadForm(purpose string, b []byte) []part {
	return []part{file("picture.png", b), value("purpose", purpose), value("upload_id", uuid.NewString())}
}

func encode(t testing.TB, parts []part) (body []byte, contentType string) {
	t.Helper()
	var b bytes.Buffer
	form := multipart.NewWriter(&b)
	for _, p := range parts {
		var (
			to  io.Writer
			err error
		)
		if p.plain {
			to, err = form.CreateFormField(p.name)
		} else {
			to, err = form.CreateFormFile(p.name, p.fileName)
		}
		require.NoError(t, err)
		_, err = to.Write(p.bytes)
		require.NoError(t, err)
	}
	require.NoError(t, form.Close())
	return b.Bytes(), form.FormDataContentType()
}

// post sends a form.
func (s *site) post(token string, parts []part) *answer {
	s.t.Helper()
	body, contentType := encode(s.t, parts)
	return s.send(http.MethodPost, "/api/v1/attachments", token, string(body), "Content-Type", contentType)
}

// attach uploads a file and returns its record.
func (s *site) attach(by *graphtest.Agent, purpose string, b []byte) map[string]any {
	s.t.Helper()
	record, ok := s.post(by.Token, uploadForm(purpose, b)).ok(http.StatusCreated)["attachment"].(map[string]any)
	require.True(s.t, ok)
	return record
}

// fetch makes a request; the answer need not be JSON.
func (s *site) fetch(method, path, token string, headers ...string) *answer {
	s.t.Helper()
	request, err := http.NewRequest(method, s.url+path, nil)
	require.NoError(s.t, err)
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	response, err := http.DefaultTransport.RoundTrip(request)
	require.NoError(s.t, err)
	defer response.Body.Close()
	raw, err := io.ReadAll(response.Body)
	require.NoError(s.t, err)
	a := &answer{status: response.StatusCode, header: response.Header, raw: raw, t: s.t}
	_ = json.Unmarshal(raw, &a.body) // the bytes of a file are not JSON
	return a
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

func pngOf(t testing.TB, width, height int) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, png.Encode(&b, noise(width, height)))
	return b.Bytes()
}

func jpegOf(t testing.TB, width, height int) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, jpeg.Encode(&b, noise(width, height), nil))
	return b.Bytes()
}

// filesIn lists the files below a folder.
func filesIn(t testing.TB, folder string) []string {
	t.Helper()
	var found []string
	require.NoError(t, filepath.WalkDir(folder, func(path string, entry os.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			found = append(found, path)
		}
		return err
	}))
	return found
}
