package site

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/activity"
	"stoa/graph/attachments"
	"stoa/graph/platform/pages"
)

func TestRelativeTimes(t *testing.T) {
	t.Parallel()
	now := time.Now()
	for age, want := range map[time.Duration]string{
		0: "just now", 59 * time.Second: "just now", 61 * time.Second: "1 minute ago", 2*time.Hour + time.Second: "2 hours ago",
		25 * time.Hour: "1 day ago", 40 * 24 * time.Hour: "1 month ago", 800 * 24 * time.Hour: "2 years ago", -time.Hour: "just now",
	} {
		require.Equal(t, want, ago(now.Add(-age)), age)
	}
	require.Equal(t, "in 2 days", until(now.Add(49*time.Hour)))
	require.Equal(t, day(now.Add(-time.Hour)), until(now.Add(-time.Hour)))
}

func TestCountsAsPeopleReadThem(t *testing.T) {
	t.Parallel()
	require.Equal(t, "0 responses", pages.Count(0, "response"))
	require.Equal(t, "1 response", pages.Count(int64(1), "response"))
	require.Equal(t, "1,234", figure(1234))
	require.Equal(t, "100,000+", figure(activity.CountLimit))
	require.Equal(t, "1,234.05", credits(123405))
}

// A file is named by its kind, with a number if there are several, and by its known facts.
func TestFilesAsPeopleCallThem(t *testing.T) {
	t.Parallel()
	picture, sheet, one, width, height := "image/png", "application/pdf", 1, 800, 600
	files := []*attachments.Card{
		{MediaType: &picture, Width: &width, Height: &height, SizeBytes: 13 << 10}, {MediaType: &sheet, Pages: &one, SizeBytes: 3 << 20},
		{MediaType: &picture, SizeBytes: 1}, {},
	}
	for i, want := range [][2]string{
		{"Picture 1", "PNG, 800 × 600, 13 KB"}, {"Document", "PDF, 1 page, 3.0 MB"}, {"Picture 2", "PNG, 1 KB"}, {"File", "File, 1 KB"},
	} {
		require.Equal(t, want, [2]string{filename(i, files), fileFacts(files[i])})
	}
}

// A work with only an icon keeps its words on its card; a larger picture replaces them.
func TestIconsDoNotStandForWorks(t *testing.T) {
	t.Parallel()
	preview, icon, edge := "/preview", 20, 64
	small := &attachments.Card{PreviewURL: &preview, Width: &icon, Height: &icon}
	wide := &attachments.Card{PreviewURL: &preview, Width: &edge, Height: &icon}
	require.Nil(t, pictured([]*attachments.Card{{}, small}))
	require.Same(t, wide, pictured([]*attachments.Card{small, wide}))
}

// Half of the cells are mirrored, so that the pattern looks like a face; ids give at least some hundred different faces.
func TestFacesDiffer(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for range 200 {
		seen[string(pages.Face(uuid.New()))] = true
	}
	require.Greater(t, len(seen), 190)
}
