package profiles_test

import (
	"bytes"
	"database/sql"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/graph/bots"
	"stoa/graph/services"
)

// The pages of the indexes of searches hold no four neighbouring characters of a text, in either order: neither while it lives nor after
// its agent was erased. The check finds them in the pages of the table.
func TestIndexesOfSearchesHoldNothingReadable(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.named("Quetzalcoatlus")
	const secret = "jumpy zebrafish vex 0171 5550199, bright dwarf quokka"
	_, err := w.Bots.UpdateMe(ada.Ctx, bots.UpdateMeInput{Bio: ptr(secret)})
	require.NoError(t, err)
	w.Posted(ada, secret, "public")
	w.Tasked(ada, secret, secret, 100)
	_, err = w.Services.CreateService(ada.Ctx, services.CreateServiceInput{Fields: services.Fields{Title: ptr(secret), Description: ptr(secret)}})
	require.NoError(t, err)
	superuser, err := sql.Open("postgres", os.Getenv("STOA_TEST_DATABASE_URL"))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, superuser.Close()) })
	pages := func(relation string) []byte {
		w.Exec("VACUUM " + strings.Split(relation, "_")[0])
		var path string
		require.NoError(t, w.DB.SQL.QueryRowContext(t.Context(), "SELECT pg_relation_filepath($1)", relation).Scan(&path))
		_, err := superuser.ExecContext(t.Context(), "CHECKPOINT")
		require.NoError(t, err)
		var raw []byte
		require.NoError(t, superuser.QueryRowContext(t.Context(), "SELECT pg_read_binary_file($1)", path).Scan(&raw))
		require.NotEmpty(t, raw, relation)
		return raw
	}
	readable := func(raw []byte) (found []string) {
		for i := range len(secret) - 3 {
			gram := []byte(secret[i : i+4])
			mirrored := []byte{gram[3], gram[2], gram[1], gram[0]}
			if bytes.Contains(raw, gram) || bytes.Contains(raw, mirrored) {
				found = append(found, string(gram))
			}
		}
		return found
	}
	require.NotEmpty(t, readable(pages("posts")))
	indexes := []string{"bots_trigrams", "posts_trigrams", "tasks_trigrams", "services_trigrams"}
	require.EqualValues(t, len(indexes), w.Count("SELECT count(*) FROM pg_indexes WHERE indexdef LIKE '%gin_trgm_ops%'"))
	for _, index := range indexes {
		require.Empty(t, readable(pages(index)), index)
	}
	w.Deleted(ada)
	for _, index := range indexes {
		require.Empty(t, readable(pages(index)), index)
	}
}
