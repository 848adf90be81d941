package profiles_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/graph/bots"
	"stoa/graph/services"
)

// The pages of the search indexes contain no four adjacent characters of a text, in either order: neither while it exists nor
// after its agent was erased. The check finds them in the pages of the table.
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
	require.NotEmpty(t, readable(w.Files("r")["posts"]))
	indexes := []string{"bots_trigrams", "posts_trigrams", "tasks_trigrams", "services_trigrams"}
	require.EqualValues(t, len(indexes), w.Count("SELECT count(*) FROM pg_indexes WHERE indexdef LIKE '%gin_trgm_ops%'"))
	check := func() {
		files := w.Files("i")
		for _, index := range indexes {
			require.NotEmpty(t, files[index], index)
			require.Empty(t, readable(files[index]), index)
		}
	}
	check()
	w.Deleted(ada)
	check()
}

// The index of posts grows no faster than the bytes of random texts; the space of deleted texts is reused.
func TestTheIndexGrowsWithItsTexts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.named("Ada")
	const texts, letters = 60, 4000
	write := func() int64 {
		w.Exec(`INSERT INTO posts (id, author_id, visibility, text, created_at, updated_at)
			SELECT gen_random_uuid(), $1, 'public', text, stoa_now(), stoa_now() FROM generate_series(1, $2::int) AS n CROSS JOIN LATERAL (
			  SELECT string_agg(chr(97 + floor(random() * 26)::int), '') AS text FROM generate_series(1, $3::int + n - n)) AS drawn`, ada.ID, texts, letters)
		w.Exec("VACUUM posts")
		return w.Count("SELECT pg_relation_size('posts_trigrams')")
	}
	empty := w.Count("SELECT pg_relation_size('posts_trigrams')")
	full := write() - empty
	require.Less(t, full, int64(8*texts*letters))
	for range 3 {
		w.Exec("UPDATE posts SET text = '', deleted_at = stoa_now()")
		w.Exec("VACUUM posts")
		require.Less(t, write()-empty, full*3/2)
	}
}
