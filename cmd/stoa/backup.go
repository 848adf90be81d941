package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"stoa/cmd/stoa/backup"
	"stoa/cmd/stoa/cluster"
	"stoa/cmd/stoa/secrets"
	"stoa/cmd/stoa/terminal"
	"stoa/graph/operator"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/pages"
)

// backupCommand works on the backups of a data folder, beside a running server or without one (docs/running.md).
type backupCommand struct {
	Make    backupMakeCommand    `cmd:"" default:"withargs" help:"Make a backup now, in the folder backups of the data folder."`
	List    backupListCommand    `cmd:"" help:"List the backups."`
	Verify  backupVerifyCommand  `cmd:"" help:"Compare all files of the backups with their checksums."`
	Restore backupRestoreCommand `cmd:"" help:"Restore a backup into an empty database."`
}

// backupSettings are the settings of the commands that open the database and the files.
type backupSettings struct {
	databaseSettings
	fileSettings
	secretSettings
	logSettings
}

// Validate refuses settings that serve would refuse.
func (s *backupSettings) Validate() error {
	return errors.Join(s.databaseSettings.Validate(), s.fileSettings.Validate())
}

// withStore calls act with the open database and files.
func (s *backupSettings) withStore(act func(context.Context, backup.Store) error) error {
	return s.withDatabase(s.logger(os.Stderr), func(ctx context.Context, address string) error {
		files, err := s.openFiles(ctx, s.filesFolder())
		if err != nil {
			return err
		}
		store := backup.Store{Folder: s.backupsFolder(), Database: s.directURL(address), Files: files, Version: versionText()}
		return errors.Join(act(ctx, store), files.Close())
	})
}

// requireFiles refuses a data folder in which no server has kept files: the backup would lack them.
func (s *backupSettings) requireFiles() error {
	if s.FilesURL != "" {
		return nil
	}
	folder, _ := filepath.Abs(s.filesFolder()) // the reader may not know the current folder; here and below
	_, err := os.Stat(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("there is no folder %s with the files of the server: name its data folder (--data-dir or STOA_DATA_DIR), or"+
			" the object store (--files-url)", folder)
	}
	return err
}

// requireBackups refuses a data folder that has neither backups nor a database: the user meant another folder.
func (s *databaseSettings) requireBackups() error {
	if err := s.actAsOwner(); err != nil {
		return err
	}
	folder, _ := filepath.Abs(s.backupsFolder())
	_, err := os.Stat(folder)
	if errors.Is(err, fs.ErrNotExist) {
		if err = s.requireDatabase(); err == nil {
			err = fmt.Errorf("there are no backups: there is no folder %s", folder)
		}
	}
	return err
}

// shownProgress shows the finished bytes on standard error until the caller calls end.
func shownProgress(what string, store *backup.Store) (end func()) {
	store.Progress, end = showProgress(os.Stderr, terminal.Is(os.Stderr), what, 0)
	return end
}

func (s databaseSettings) backupsFolder() string { return filepath.Join(s.DataDir, "backups") }

type backupMakeCommand struct {
	backupSettings

	WithKey bool `env:"-" help:"Put the installation's key into the backup, mode 0600; a reader of it can compute codes and links of mails, and sign as the server."`
}

func (c *backupMakeCommand) Run(out io.Writer) error {
	if err := cmp.Or(c.requireDatabase(), c.requireFiles()); err != nil {
		return err
	}
	return c.withStore(func(ctx context.Context, store backup.Store) (err error) {
		if c.WithKey {
			if store.Key, err = c.readKey(c.DataDir); err != nil {
				return err
			}
		}
		defer shownProgress("backing up", &store)()
		made, err := store.Make(ctx)
		if err != nil {
			return err
		}
		_, err = io.WriteString(out, describe(made))
		return err
	})
}

// describe summarises a backup for the person who made it.
func describe(m *backup.Manifest) string {
	text := fmt.Sprintf("Backup %s holds the database (%d bytes) and %d files (%d bytes).\n", m.Name, m.DatabaseBytes, m.Files, m.FilesBytes)
	if m.HasKey {
		text += "It holds the installation's key: keep it as secret as that.\n"
	}
	if m.Empty {
		text += "The database is empty: it holds no agent. Is it the one that you meant?\n"
	}
	return text
}

type backupListCommand struct{ databaseSettings }

// Run lists backups, oldest first.
func (c *backupListCommand) Run(out io.Writer) error {
	if err := c.requireBackups(); err != nil {
		return err
	}
	all, err := backup.Store{Folder: c.backupsFolder()}.List()
	if err != nil {
		return err
	}
	var rows [][]string
	for _, m := range all {
		rows = append(rows, []string{m.Name, m.MadeAt.Format(time.RFC3339), strconv.FormatInt(m.SizeBytes(), 10),
			strconv.FormatInt(m.Files, 10), m.Version, notes(m)})
	}
	_, err = io.WriteString(out, terminal.Table([]string{"NAME", "MADE", "BYTES", "FILES", "VERSION", "NOTES"}, rows))
	return err
}

// notes returns the remarks about a backup for the list.
func notes(m backup.Manifest) string {
	var found []string
	if m.Damage != "" {
		found = append(found, "damaged manifest")
	}
	if m.HasKey {
		found = append(found, "with key")
	}
	if m.Empty {
		found = append(found, "no agents")
	}
	return cmp.Or(strings.Join(found, ", "), "-")
}

type backupVerifyCommand struct {
	databaseSettings

	Name string `arg:"" optional:"" help:"Name of the backup; all of them by default."`
}

// Run reads every file of the backups and names the damaged files.
func (c *backupVerifyCommand) Run(out io.Writer) error {
	if err := c.requireBackups(); err != nil {
		return err
	}
	store := backup.Store{Folder: c.backupsFolder()}
	end := shownProgress("comparing files", &store)
	damaged, err := store.Verify(context.Background(), c.Name)
	end()
	if err != nil {
		return err
	}
	for _, d := range damaged {
		fmt.Fprintf(out, "%s/%s: %s\n", d.Backup, d.Path, d.Reason)
	}
	if len(damaged) > 0 {
		return fmt.Errorf("%s damaged; the next backup copies files from the file store again", pages.Count(len(damaged), "file"))
	}
	_, err = fmt.Fprintln(out, "All files are as they were written.")
	return err
}

type backupRestoreCommand struct {
	backupSettings
	From string `env:"-" help:"Folder of the backups; by default backups in the data folder." type:"path"`
	backup.RestoreOptions
}

func (c *backupRestoreCommand) Run(out io.Writer) error {
	return c.withStore(func(ctx context.Context, store backup.Store) error {
		if c.From != "" {
			store.Folder = c.From
		}
		c.PutKey = func(key []byte) error { return c.putKey(c.DataDir, key) }
		key, err := c.knownKey(c.DataDir)
		if err != nil {
			return err
		}
		if key != nil {
			c.KeyFingerprint = secrets.Fingerprint(key)
		}
		defer shownProgress("restoring", &store)()
		restored, err := store.Restore(ctx, c.RestoreOptions)
		if err != nil {
			return err
		}
		made := restored.MadeAt.Format(time.RFC3339)
		fmt.Fprintf(out, "Backup %s is restored, as of %s.\n", restored.Name, made)
		next, err := c.newEpoch(ctx, store.Database, "a backup of "+made+" was restored")
		if err != nil {
			return fmt.Errorf("the key log: %w\nbegin a new epoch before a server starts: stoa log new-epoch", err)
		}
		if next != nil {
			fmt.Fprintf(out, "The key log goes on as %s, with %d entries.\n", next.Origin, next.Size)
		}
		return nil
	})
}

func (p *process) backups() backup.Store {
	return backup.Store{Folder: p.settings.backupsFolder(), Database: p.directURL(), Files: p.files, Version: versionText()}
}

func (p *process) makeBackup(ctx context.Context) (*operator.Backup, error) {
	made, err := p.backups().Make(ctx)
	if errors.Is(err, backup.ErrBusy) || errors.Is(err, cluster.ErrNoClient) {
		return nil, fault.Wrap(fault.ServiceUnavailable, err).Say(err.Error())
	}
	if err != nil {
		return nil, err
	}
	p.log.InfoContext(ctx, "backup made", "name", made.Name, "bytes", made.SizeBytes(), "files", made.Files)
	return shown(made), nil
}

func shown(m *backup.Manifest) *operator.Backup {
	return &operator.Backup{Name: m.Name, Files: m.Files, SizeBytes: m.SizeBytes(), MadeAt: m.MadeAt}
}

// lastBackup returns the last backup and its last verification; nil for none.
func (p *process) lastBackup(context.Context) (*operator.Backup, error) {
	store := p.backups()
	all, err := store.List()
	if err != nil || len(all) == 0 {
		return nil, err
	}
	last := shown(&all[len(all)-1])
	if verified := store.Verified(last.Name); verified != nil {
		last.VerifiedAt, last.Damaged = &verified.At, verified.Damaged
	}
	return last, nil
}

func (p *process) makeDailyBackup(ctx context.Context) error {
	made, err := p.backups().Daily(ctx)
	if made != nil {
		p.log.InfoContext(ctx, "backup made", "name", made.Name, "bytes", made.SizeBytes(), "files", made.Files)
		if made.Repaired > 0 {
			p.log.ErrorContext(ctx, "files of backups were damaged and are copied again: look after the disk", "files", made.Repaired)
		}
	}
	if errors.Is(err, backup.ErrBusy) {
		p.log.InfoContext(ctx, "another process is making the backup")
		return nil
	}
	return err
}
