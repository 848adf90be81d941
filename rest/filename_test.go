package rest_test

import (
	"fmt"
	"mime"
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/platform/fault"
	"stoa/rest/client"
)

// A file name stays the same through upload and download, whether a browser, a MIME program or the Go client writes the form.
func TestAFileNameIsOneThroughEveryDoor(t *testing.T) {
	t.Parallel()
	s := sharedFileSite(t)
	agent := s.Agent()
	send := func(escaped, id string, picture []byte) *answer {
		body := fmt.Sprintf("--b\r\nContent-Disposition: form-data; name=\"purpose\"\r\n\r\norder\r\n"+
			"--b\r\nContent-Disposition: form-data; name=\"upload_id\"\r\n\r\n%s\r\n"+
			"--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"%s\"\r\n\r\n%s\r\n--b--\r\n", id, escaped, picture)
		return s.send(http.MethodPost, "/api/v1/attachments", agent.Token, body, "Content-Type", "multipart/form-data; boundary=b")
	}
	c := client.New(s.url, client.Options{Token: agent.Token})
	for name, escaped := range map[string][]string{
		`a"b.png`:         {`a%22b.png`, `a\"b.png`},
		`b\c.png`:         {`b\c.png`, `b\\c.png`},
		`b\(c).png`:       {`b\(c).png`, `b\\(c).png`},
		`ends with \`:     {`ends with \`, `ends with \\`},
		`"quoted\name".p`: {`%22quoted\name%22.p`, `\"quoted\\name\".p`},
		`Überß.png`:       {`Überß.png`},
		`a%23c;=.png`:     {`a%23c;=.png`},
		`a%2fb%5C.png`:    {`a%2fb%5C.png`},
	} {
		id, picture := uuid.NewString(), pngOf(t, 4, 4)
		var download string
		for i, form := range escaped {
			status := http.StatusOK
			if i == 0 {
				status = http.StatusCreated
			}
			record := send(form, id, picture).ok(status)["attachment"].(map[string]any)
			require.Equal(t, name, record["file_name"], form)
			download = record["download_url"].(string)
		}
		made, replayed, err := c.Upload(t.Context(), "order", name, id, picture)
		require.NoError(t, err, name)
		require.True(t, replayed, name)
		require.Equal(t, name, *made.Name)
		_, parameters, err := mime.ParseMediaType(s.send(http.MethodGet, download, agent.Token, nil).header.Get("Content-Disposition"))
		require.NoError(t, err)
		require.Equal(t, name, parameters["filename"])
	}
	for _, escaped := range []string{"a%0Ab.png", "a%0D%0Ab.png"} {
		send(escaped, uuid.NewString(), pngOf(t, 4, 4)).fault(http.StatusBadRequest, fault.InvalidFields)
	}
	made, _, err := c.Upload(t.Context(), "order", strings.Repeat(`"`, 255), uuid.NewString(), pngOf(t, 4, 4))
	require.NoError(t, err, "the length is that of the name")
	require.Equal(t, strings.Repeat(`"`, 255), *made.Name)
}
