package main

import (
	"bytes"
	"encoding/json"
	"image"
	"image/png"
	"io"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/cmd/stoa/agent"
)

// uploaded sends a small picture and returns the path of its bytes.
func (s *instance) uploaded(by *agent.Agent) string {
	s.t.Helper()
	return "/attachments/" + s.upload(by, "portfolio") + "/download"
}

// upload sends a small picture and returns its id.
func (s *instance) upload(by *agent.Agent, purpose string) string {
	s.t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	require.NoError(s.t, form.WriteField("purpose", purpose))
	require.NoError(s.t, form.WriteField("upload_id", uuid.NewString()))
	part, err := form.CreateFormFile("file", "a.png")
	require.NoError(s.t, err)
	require.NoError(s.t, png.Encode(part, image.NewGray(image.Rect(0, 0, 8, 8))))
	require.NoError(s.t, form.Close())
	request, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, s.url+"/api/v1/attachments", &body)
	require.NoError(s.t, err)
	request.Header.Set("Content-Type", form.FormDataContentType())
	request.Header.Set("Authorization", "Bearer "+by.Token)
	response, err := http.DefaultClient.Do(request)
	require.NoError(s.t, err)
	defer response.Body.Close()
	raw, err := io.ReadAll(response.Body)
	require.NoError(s.t, err)
	require.Equal(s.t, http.StatusCreated, response.StatusCode, "%s", raw)
	var made struct {
		Attachment struct {
			ID string `json:"id"`
		} `json:"attachment"`
	}
	require.NoError(s.t, json.Unmarshal(raw, &made))
	return made.Attachment.ID
}

// asks sends a document to the operators' GraphQL and returns the answer.
func (s *instance) asks(document string) string {
	s.t.Helper()
	token, err := os.ReadFile(filepath.Join(s.data, operatorTokenFile))
	require.NoError(s.t, err)
	body, err := json.Marshal(map[string]string{"query": document})
	require.NoError(s.t, err)
	request, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, s.operator+"/graphql", bytes.NewReader(body))
	require.NoError(s.t, err)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
	response, err := http.DefaultClient.Do(request)
	require.NoError(s.t, err)
	defer response.Body.Close()
	raw, err := io.ReadAll(response.Body)
	require.NoError(s.t, err)
	return string(raw)
}

func TestABackupMakesAServerAnew(t *testing.T) {
	t.Parallel()
	s := serve(t, unlimited...)
	ada, err := agent.Register(t.Context(), s.client(), "Ada", "ada")
	require.NoError(t, err)
	picture := s.uploaded(ada)
	before, err := s.client().Send(t.Context(), http.MethodGet, picture, ada.Token, nil)
	require.NoError(t, err)

	// By the command beside the server, and by an operator.
	code, out, complaint := outcome(t, []string{"backup"}, "STOA_DATA_DIR="+s.data)
	require.Zero(t, code, complaint)
	require.Regexp(t, `^Backup \S+ holds the database \(\d+ bytes\) and 2 files \(\d+ bytes\)\.\n$`, out)
	made := s.asks(`mutation { runMaintenance(task: BACKUP, reason: "before the move") { backup { name files sizeBytes } } }`)
	require.Contains(t, made, `"files":2`)
	code, out, complaint = outcome(t, []string{"backup", "list"}, "STOA_DATA_DIR="+s.data)
	require.Zero(t, code, complaint)
	require.Equal(t, 3, strings.Count(out, "\n"), out)

	code, _, complaint = outcome(t, []string{"backup", "restore"}, "STOA_DATA_DIR="+s.data)
	require.Equal(t, exitFailure, code)
	require.Contains(t, complaint, "not empty")
	code, _, complaint = outcome(t, []string{"backup", "restore", "--replace"}, "STOA_DATA_DIR="+s.data)
	require.Equal(t, exitFailure, code)
	require.Contains(t, complaint, "in use")
	s.signal(syscall.SIGTERM)
	require.Zero(t, s.wait())

	moved := t.TempDir()
	code, out, complaint = outcome(t, []string{"backup", "restore", "--from", filepath.Join(s.data, "backups")}, "STOA_DATA_DIR="+moved)
	require.Zero(t, code, complaint)
	require.Contains(t, out, "is back")
	again := serve(t, append(unlimited, "STOA_DATA_DIR="+moved)...)
	after, err := again.client().Send(t.Context(), http.MethodGet, picture, ada.Token, nil)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, after.Status)
	require.Equal(t, before.Raw, after.Raw)
	require.Contains(t, again.asks(`mutation { runMaintenance(task: RECONCILE, reason: "after the move") { discrepancies { check } } }`), `"discrepancies":[]`)
}
