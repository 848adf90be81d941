package owner_test

import (
	"net/http"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

func TestDocument(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const title = `</title><script>alert("1")</script> & sons`
	const text = "\n  <b>First</b> line\r\n\n\tsecond & last {{.}} </pre><script>  \n"
	id := w.publish(title, "<i>2</i>", text)
	path := "/owner/documents/" + id.String()
	shown := w.get(path).status(http.StatusOK)
	require.Equal(t, title, shown.title())
	require.Empty(t, shown.find("script"))
	require.Empty(t, shown.find("b"))
	require.Empty(t, shown.find("i"))
	shown.says("<i>2</i>", hash(text))
	require.Equal(t, "\n  <b>First</b> line\n\n\tsecond & last {{.}} </pre><script>  \n", shown.find("pre")[0].FirstChild.Data,
		"line breaks and spaces are kept")
	require.Contains(t, shown.links(), path+".txt")
	require.NotContains(t, textOf(shown.root), "not in force")

	raw := w.get(path + ".txt").status(http.StatusOK)
	require.Equal(t, "text/plain; charset=utf-8", raw.header.Get("Content-Type"))
	require.Equal(t, hash(text), hash(string(raw.raw)))
	_, mail := w.apply("echo")
	require.Contains(t, textOf(w.get(mail.path).root), title)

	w.Exec("UPDATE documents SET url = 'https://stoa.example/terms' WHERE id = $1", id)
	require.Contains(t, w.get(path).links(), "https://stoa.example/terms")
	w.publish(title, "3", "")
	w.get(path).status(http.StatusOK).says("This version is not in force any more.")
	for _, unknown := range []string{uuid.NewString(), "x", "{" + id.String() + "}", id.String() + "/", id.String() + ".html", ""} {
		for _, end := range []string{"", ".txt"} {
			require.Equal(t, "There is no such page", w.get("/owner/documents/"+unknown+end).status(http.StatusNotFound).title(), unknown)
		}
	}
}
