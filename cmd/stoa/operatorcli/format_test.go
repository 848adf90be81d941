package operatorcli

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stoa/cmd/stoa/terminal"
)

func TestParseTime(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 12, 0, 0, 500, time.UTC)
	for typed, want := range map[string]time.Time{
		"2026-11-21T10:00:00+01:00": time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC),
		"36h":                       time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC),
		"7d":                        time.Date(2026, 11, 14, 12, 0, 0, 0, time.UTC),
	} {
		got, err := parseTime(typed, now, true)
		require.NoError(t, err, typed)
		require.True(t, want.Equal(got), "%s: %s", typed, got)
	}
	ahead, err := parseTime("7d", now, false)
	require.NoError(t, err)
	require.True(t, time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC).Equal(ahead))
	for _, typed := range []string{"soon", "-1h", "2026-13-01", "d", "-7d", "9999999999d"} {
		_, err := parseTime(typed, now, true)
		require.Error(t, err, typed)
	}
}

func TestAge(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for d, said := range map[time.Duration]string{
		0: "0s", 59 * time.Second: "59s", time.Minute: "1m", 119 * time.Minute: "1h", 49 * time.Hour: "2d", -90 * time.Minute: "in 1h",
	} {
		require.Equal(t, said, age(now, now.Add(-d)))
	}
	require.Equal(t, "in 2912117d", age(now, time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)))
}

// Names that agents choose must not send commands to the operator's terminal.
func TestControlCharactersAreReplaced(t *testing.T) {
	t.Parallel()
	require.Equal(t, "TITLE\n [2Jgone a b\n", terminal.Table([]string{"TITLE"}, [][]string{{"\x1b[2Jgone\na\u202eb"}}))
	require.Equal(t, "a\nb ", terminal.Plain("a\nb\u0085"))
	require.Len(t, []rune(truncate(string(make([]rune, 500)))), maxCell)
}

func FuzzParseDuration(f *testing.F) {
	f.Add("7d")
	f.Add("36h")
	f.Fuzz(func(t *testing.T, typed string) {
		if d, err := parseDuration(typed); err == nil {
			require.GreaterOrEqual(t, d, time.Duration(0))
		}
	})
}

// Kinds are named in the help and accepted in any case.
func TestKinds(t *testing.T) {
	t.Parallel()
	command, known := find("remove-content")
	require.True(t, known)
	i := slices.IndexFunc(command.parameters, func(p parameter) bool { return p.field == "kinds" })
	p := command.parameters[i]
	require.Contains(t, p.tag(), `placeholder:"posts,tasks,services,ratings"`)
	got, err := p.read(nil, []string{"POSTS", "tasks"})
	require.NoError(t, err)
	require.Equal(t, []string{"POSTS", "TASKS"}, got)
	_, err = p.read(nil, []string{"post"})
	require.ErrorContains(t, err, `--remove: "post" is none of posts, tasks, services, ratings`)

	outcome := filters["list mails"][0]
	got, err = outcome.read(nil, new("Sent"))
	require.NoError(t, err)
	require.Equal(t, "sent", got)
	maintenance, known := find("maintenance")
	require.True(t, known)
	_, err = maintenance.parameters[0].read(nil, "none")
	require.ErrorContains(t, err, `<task>: "none" is none of backup, `)
}

// A review prints a text once if its record has the same, and both if they differ.
func TestAReviewPrintsATextOnce(t *testing.T) {
	t.Parallel()
	post := map[string]any{"id": "1", "title": "Mine", "text": "y", "kind": "work"}
	review := map[string]any{"title": "Mine", "text": "x", "post": post}
	printed := map[string][]string{}
	for _, one := range new(deps).fields(schema.Types["PostReview"], review) {
		if one[1] != "" { // empty ones are not printed
			printed[one[0]] = append(printed[one[0]], one[1])
		}
	}
	require.Equal(t, []string{"Mine"}, printed["Title"])
	require.ElementsMatch(t, []string{"x", "y"}, printed["Text"])
}

// The help names the tasks to choose from, and asks for credits as they are read.
func TestHelpOfArguments(t *testing.T) {
	t.Parallel()
	for field, help := range map[string]string{"task": "Task. One of backup, cleanup, lifecycle, reconcile, rewards.", "amountMinor": "In credits, such as 12.50."} {
		command, known := find(map[string]string{"task": "maintenance", "amountMinor": "top-up"}[field])
		require.True(t, known)
		i := slices.IndexFunc(command.parameters, func(p parameter) bool { return p.field == field })
		require.Equal(t, help, command.parameters[i].help)
	}
}
