package faults

import (
	"context"
	"errors"
	"time"

	"stoa/cmd/prove/testbed"
)

// mailsUnderWay is how long a slow mail server works before the first server is lost: all that send mails have some under way then.
const mailsUnderWay = 3 * time.Second

// loseMailing makes the mail server slow, and then kills one server after the other and starts it again.
func loseMailing(ctx context.Context, s *Scene) (string, Lift, error) {
	s.Bed.Mail.Break(testbed.MailSlow)
	var failed error
	ctx, stop := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		pause := mailsUnderWay
		for _, server := range s.Bed.Servers {
			if wait(ctx, pause) != nil {
				return
			}
			server.Kill()
			failed = errors.Join(failed, server.Start(context.WithoutCancel(ctx)))
			pause = time.Second
		}
	}()
	return "all servers", func(context.Context) error {
		stop()
		<-done
		return errors.Join(failed, s.Bed.Mail.Mend(testbed.MailSlow))
	}, nil
}

// The statements that make commits late. A deferred trigger runs at the commit, when all that the transaction writes is written and
// no other one sees it yet, as with a disk that hangs. Which transactions it meets depends on the random part of an event's id.
const (
	lateCommits = `CREATE FUNCTION prove_commit_late() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(2.5); RETURN NULL; END $$;
CREATE CONSTRAINT TRIGGER prove_commit_late AFTER INSERT ON events DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
	WHEN (get_byte(uuid_send(NEW.id), 15) < 64) EXECUTE FUNCTION prove_commit_late()`
	promptCommits = `DROP TRIGGER IF EXISTS prove_commit_late ON events; DROP FUNCTION IF EXISTS prove_commit_late()`
)

// delayCommits makes some commits late.
func delayCommits(ctx context.Context, s *Scene) (string, Lift, error) {
	lift := func(ctx context.Context) error {
		_, err := s.Bed.DB.ExecContext(ctx, promptCommits)
		return err
	}
	_, err := s.Bed.DB.ExecContext(ctx, lateCommits)
	return "the database", lift, injected(err)
}
