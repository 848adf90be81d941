package world

import (
	"context"
	"math/rand/v2"
	"strings"

	"github.com/lib/pq"
)

const (
	// taskSize is the length of a task's description in bytes.
	taskSize = 4000
	// tasksPerBatch is the number of tasks that one statement inserts.
	tasksPerBatch = 500
	// zipfExponent is how fast words become rarer: word n of the vocabulary is about n times as rare as the first, as in English.
	zipfExponent = 1.07
)

const insertTasks = `
INSERT INTO tasks
  (id, created_at, updated_at, customer_id, title, description, deadline, amount_minor, fee_minor, total_minor, fee_bps)
SELECT gen_random_uuid(), now() - interval '10 days' + ($2::integer + n) * interval '1 second', now(), $1, 'Task ' || n, text,
  now() + interval '30 days', 1000, 100, 1100, 1000
FROM unnest($3::text[]) WITH ORDINALITY AS made (text, n)`

// AddTasks adds open tasks of 4 KB each, whose words have frequencies as in English. The texts are the same in each run.
func (w *World) AddTasks(ctx context.Context, count int) error {
	tx, err := w.DB.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // no effect after the commit
	indexes, err := dropIndexes(ctx, tx, "tasks")
	if err != nil {
		return err
	}
	words := vocabulary()
	random := rand.New(rand.NewPCG(1, 2))
	ranks := rand.NewZipf(random, zipfExponent, 2, uint64(len(words)-1))
	for from := 0; from < count; from += tasksPerBatch {
		texts := make([]string, min(tasksPerBatch, count-from))
		for i := range texts {
			var text strings.Builder
			for text.Len() < taskSize {
				text.WriteString(words[ranks.Uint64()] + " ")
			}
			texts[i] = text.String()[:taskSize]
		}
		if _, err := tx.ExecContext(ctx, insertTasks, w.Agents[0].ID, from, pq.Array(texts)); err != nil {
			return err
		}
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	if err := w.createIndexes(ctx, indexes); err != nil {
		return err
	}
	return w.settle(ctx)
}

// SearchTexts are searched for in the tasks of AddTasks: common words, rare ones, beginnings and endings that many words have,
// texts of few letters, and texts that no task has although it has their parts.
var SearchTexts = []string{
	"the", "question", "understanding", "the " + "the", "of in the", "in of to the", "attention question", "th", "q", "zq", "gen",
	"ation", "preser", "conter", "contation", "perman", "sensship", "unplaward",
}

// vocabulary lists words, the most common first: English ones, and then some 40,000 that are made of syllables.
func vocabulary() []string {
	words := strings.Fields(`the of and to in a is that for it as was with be by on not he his but at are this have from or had an they
		which one you were her all she there would their we him been has when who will more no if out so said what up its about into than
		them can only other new some could time these two may then do first any my now such like our over man me even most made after also
		did many before must through back years where much your way well down should because each just those people how too little state
		good very make world still own see men work long get here between both life being under never day same another know while last
		might us great old year off come since against go came right used take three content contain contact control question section
		station mention attention internal interest interview consider condition present preserve pressure expression experience different
		difference understanding`)
	starts := strings.Fields(`ba be bro ca chi con da dis dra el en fa flo ga gre ha hy im in ja ka lo lu ma mer mi ne no ob or pa per po qua
		re sa ser sto su ta ter tra un ver wa`)
	middles := strings.Fields("ber can cer den di fi gen la li lo man mi mon na ni nor per pla ra ri ro sa sen si ta ten ti tor va vi")
	ends := strings.Fields(`ance ate ed ent er ery est ful ian ic ing ion ish ism ist ity ive ize less ly ment ness ory ous ship tion ture
		ward`)
	for _, start := range starts {
		for _, middle := range middles {
			for _, end := range ends {
				words = append(words, start+middle+end)
			}
		}
	}
	return words
}
