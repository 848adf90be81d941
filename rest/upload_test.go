package rest_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/attachments"
	"stoa/graph/graphtest"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/slack"
	"stoa/jobs"
	"stoa/rest/client"
)

func TestUploadForms(t *testing.T) {
	t.Parallel()
	s, agent := sharedFileSite(t).withAgent()
	picture := file("a.png", pngOf(t, 4, 4))
	purpose, id := value("purpose", "order"), value("upload_id", uuid.NewString())
	for name, form := range map[string][]part{
		"empty":                 {},
		"no file":               {purpose, id},
		"no purpose":            {picture, id},
		"no upload_id":          {picture, purpose},
		"two files":             {picture, picture, purpose, id},
		"two purposes":          {picture, purpose, purpose, id},
		"two upload_ids":        {picture, purpose, id, id},
		"extra part":            {picture, purpose, id, value("title", "x")},
		"part without a name":   {picture, purpose, id, value("", "x")},
		"no file name":          {file("", picture.bytes), purpose, id},
		"file as a value":       {value("file", "x"), purpose, id},
		"blank file name":       {file("  ", picture.bytes), purpose, id},
		"long file name":        {file(strings.Repeat("x", 256), picture.bytes), purpose, id},
		"upload_id not a UUID":  {picture, purpose, value("upload_id", "1")},
		"upload_id in braces":   {picture, purpose, value("upload_id", "{"+uuid.NewString()+"}")},
		"unknown purpose":       {picture, value("purpose", "portrait"), id},
		"purpose in upper case": {picture, value("purpose", "ORDER"), id},
		"long purpose":          {picture, value("purpose", strings.Repeat("x", 300)), id},
	} {
		t.Log(name)
		s.upload(agent.Token, form).fault(fault.InvalidFields)
	}
	const three = "--x\r\nContent-Disposition: form-data; name=\"file\"; filename=a\r\n\r\nno picture\r\n" +
		"--x\r\nContent-Disposition: form-data; name=\"purpose\"\r\n\r\norder\r\n" +
		"--x\r\nContent-Disposition: form-data; name=\"upload_id\"\r\n\r\ne5b2b2d4-9e0b-4b5c-8a52-0d3c6e7f8a90\r\n--x"
	raw := func(body string) *answer {
		return s.send("POST", "/api/v1/attachments", agent.Token, body, "Content-Type", "multipart/form-data; boundary=x")
	}
	for name, body := range map[string]string{
		"no form at all": "", "cut": "--x\r\nContent-Disposition: form-data; name=\"purpose\"\r\n\r\norder",
		"not closed": three, "half closed": three + "-", "another part": three + "\r\n", "a part's header": three + "\r\nA: b",
		"a part's name": three + "\r\nContent-Disposition: form-data; name=\"extra\"", "a header like the end": three + "\r\nA: --x--",
		"a part without a body": three + "\r\nContent-Disposition: form-data; name=\"extra\"\r\n\r\n",
	} {
		t.Log(name)
		raw(body).fault(fault.InvalidFields)
	}
	s.send("POST", "/api/v1/attachments", agent.Token, "x", "Content-Type", "multipart/form-data").fault(fault.InvalidFields)
	require.Zero(t, s.Count("SELECT count(*) FROM attachments WHERE owner_id = $1", agent.ID), "none of them is recorded")
	raw(three + "--").fault(fault.InvalidFile)
	for _, end := range []string{"--\r\n", "-- \r\n", "--\r\nmore"} {
		raw(three + end).fault(fault.UploadUnavailable)
	}
	raw(strings.ReplaceAll(three, "\r", "") + "--").fault(fault.UploadUnavailable)
	s.upload(agent.Token, []part{id, purpose, picture}).ok(201) // parts come in any order
}

func TestUploadSizes(t *testing.T) {
	t.Parallel()
	s, agent := sharedFileSite(t).withAgent()
	for name, size := range map[string]int{"a file over 20 MiB": 20<<20 + 1, "a form over 21 MiB": 21 << 20, "far too much": 40 << 20} {
		if t.Log(name); testing.Short() && size > 21<<20 {
			continue
		}
		s.upload(agent.Token, uploadForm("order", make([]byte, size))).fault(fault.PayloadTooLarge)
	}
	body, contentType := encode(t, uploadForm("order", make([]byte, 22<<20)))
	request := graphtest.Got(http.NewRequest(http.MethodPost, s.url+"/api/v1/attachments", io.MultiReader(bytes.NewReader(body))))(t)
	request.Header.Set("Content-Type", contentType)
	request.Header.Set("Authorization", "Bearer "+agent.Token)
	response, err := http.DefaultTransport.RoundTrip(request)
	require.NoError(t, err)
	defer response.Body.Close()
	require.Equal(t, http.StatusRequestEntityTooLarge, response.StatusCode)
	require.Zero(t, s.Count("SELECT count(*) FROM attachments WHERE owner_id = $1", agent.ID))
	s.upload(agent.Token, uploadForm("order", make([]byte, 20<<20))).fault(fault.InvalidFile)
}

// The answer to a repeated upload has Retry-After while the file is inspected.
func TestUploadThatIsUnfinished(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	open := make(chan struct{})
	s.InspectWith(func(ctx context.Context, original *os.File, purpose attachments.Purpose) (attachments.Report, error) {
		<-open
		return jobs.InspectFile(ctx, original, purpose)
	})
	s.Attachments.InspectionWait = 50 * time.Millisecond
	agent := s.Agent()
	form := uploadForm("order", pngOf(t, 4, 4))
	busy := s.upload(agent.Token, form).refused(fault.UploadBusy)
	require.NotEmpty(t, busy.header.Get("Retry-After"))
	repeat := s.upload(agent.Token, form)
	require.Equal(t, object{"upload_id": "unfinished"}, repeat.fault(fault.UploadUnavailable)["fields"])
	require.NotEmpty(t, repeat.header.Get("Retry-After"))
	close(open)
	require.Eventually(t, func() bool { return s.upload(agent.Token, form).status == http.StatusOK }, slack.TestWait, 50*time.Millisecond)
}

// An upload that breaks off leaves no bytes and no records.
func TestUploadThatBreaksOff(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	folder := s.InspectWith(nil)
	agent := s.Agent()
	body, contentType := encode(t, uploadForm("order", pngOf(t, 300, 300)))
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
	require.NoError(t, err)
	_, err = fmt.Fprintf(conn, "POST /api/v1/attachments HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s",
		agent.Token, contentType, len(body), body[:len(body)/2])
	require.NoError(t, err)
	require.NoError(t, conn.(*net.TCPConn).CloseWrite())
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	require.Equal(t, http.StatusBadRequest, response.StatusCode)
	require.NoError(t, conn.Close())
	require.Empty(t, filesIn(t, folder))
	require.Zero(t, s.Count("SELECT count(*) FROM attachments WHERE owner_id = $1", agent.ID))
}

// A file name stays the same through upload and download, whether a browser, a MIME program or the Go client writes the form.
func TestAFileNameSurvivesEveryForm(t *testing.T) {
	t.Parallel()
	s, agent := sharedFileSite(t).withAgent()
	send := func(escaped, id string, picture []byte) *answer {
		body := fmt.Sprintf("--b\r\nContent-Disposition: form-data; name=\"purpose\"\r\n\r\norder\r\n"+
			"--b\r\nContent-Disposition: form-data; name=\"upload_id\"\r\n\r\n%s\r\n"+
			"--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"%s\"\r\n\r\n%s\r\n--b--\r\n", id, escaped, picture)
		return s.send("POST", "/api/v1/attachments", agent.Token, body, "Content-Type", "multipart/form-data; boundary=b")
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
			record := send(form, id, picture).ok(status)["attachment"].(object)
			require.Equal(t, name, record["file_name"], form)
			download = record["download_url"].(string)
		}
		made, replayed, err := c.Upload(t.Context(), "order", name, id, picture)
		require.NoError(t, err, name)
		require.True(t, replayed, name)
		require.Equal(t, name, *made.Name)
		_, parameters, err := mime.ParseMediaType(s.get(agent, download).header.Get("Content-Disposition"))
		require.NoError(t, err)
		require.Equal(t, name, parameters["filename"])
	}
	for _, escaped := range []string{"a%0Ab.png", "a%0D%0Ab.png"} {
		send(escaped, uuid.NewString(), pngOf(t, 4, 4)).fault(fault.InvalidFields)
	}
	made, _, err := c.Upload(t.Context(), "order", strings.Repeat(`"`, 255), uuid.NewString(), pngOf(t, 4, 4))
	require.NoError(t, err, "the length is that of the name")
	require.Equal(t, strings.Repeat(`"`, 255), *made.Name)
}
