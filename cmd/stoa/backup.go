package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"text/tabwriter"
	"time"

	"stoa/cmd/stoa/backup"
	"stoa/cmd/stoa/cluster"
	"stoa/cmd/stoa/progress"
	"stoa/graph/operator"
	"stoa/graph/platform/fault"
)

// backupCommand works on the backups of a data folder, beside a running server or without one (docs/running.md).
type backupCommand struct {
	Make    backupMakeCommand    `cmd:"" default:"1" help:"Make a backup now, in the folder backups of the data folder."`
	List    backupListCommand    `cmd:"" help:"List the backups."`
	Verify  backupVerifyCommand  `cmd:"" help:"Compare all files of the backups with their checksums."`
	Restore backupRestoreCommand `cmd:"" help:"Restore a backup into an empty database."`
}

// backupSettings are those of the commands that open the database and the files.
type backupSettings struct {
	databaseSettings
	fileSettings
	logSettings
}

// Validate refuses what serve would refuse.
func (s *backupSettings) Validate() error {
	return errors.Join(s.databaseSettings.Validate(), s.fileSettings.Validate())
}

// withStore calls act with the open database and files. A private cluster that no server runs is started, and stopped afterwards.
func (s *backupSettings) withStore(act func(context.Context, backup.Store) error) (err error) {
	log := s.logger(os.Stderr)
	ctx := contextUntilSignal(log)
	files, err := s.openFiles(ctx, s.filesFolder())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, files.Close()) }()
	address, private, err := s.locateDatabase(ctx, log)
	if err != nil {
		return err
	}
	err = act(ctx, backup.Store{Folder: s.backupsFolder(), Database: s.directURL(address), Files: files, Version: versionText()})
	if private != nil {
		stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), clusterStopTimeout)
		defer cancel()
		err = errors.Join(err, private.Stop(stopping))
	}
	return err
}

// shownProgress shows on standard error how many bytes are done; the caller calls the function that it returns.
func shownProgress(what string, store *backup.Store) (end func()) {
	work := progress.Start(os.Stderr, isTerminal(os.Stderr), what, progress.Unknown, true)
	store.Progress = work.Add
	return work.End
}

func (s databaseSettings) backupsFolder() string { return filepath.Join(s.DataDir, "backups") }

type backupMakeCommand struct{ backupSettings }

// Run makes a backup.
func (c *backupMakeCommand) Run(out io.Writer) error {
	return c.withStore(func(ctx context.Context, store backup.Store) error {
		defer shownProgress("backing up", &store)()
		made, err := store.Make(ctx)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(out, "Backup %s holds the database (%d bytes) and %d files (%d bytes).\n",
			made.Name, made.DatabaseBytes, made.Files, made.FilesBytes)
		return err
	})
}

type backupListCommand struct{ databaseSettings }

// Run lists backups, oldest first.
func (c *backupListCommand) Run(out io.Writer) error {
	all, err := backup.Store{Folder: c.backupsFolder()}.List()
	if err != nil {
		return err
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "NAME\tMADE\tBYTES\tFILES\tVERSION")
	for _, m := range all {
		fmt.Fprintf(table, "%s\t%s\t%d\t%d\t%s\n", m.Name, m.MadeAt.Format(time.RFC3339), m.SizeBytes(), m.Files, m.Version)
	}
	return table.Flush()
}

type backupVerifyCommand struct {
	databaseSettings

	Name string `arg:"" optional:"" help:"Name of the backup; all of them by default."`
}

// Run reads every file of the backups and names those that are damaged.
func (c *backupVerifyCommand) Run(out io.Writer) error {
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
		return fmt.Errorf("%d files are damaged; the next backup copies files from the file store again", len(damaged))
	}
	_, err = fmt.Fprintln(out, "All files are as they were written.")
	return err
}

type backupRestoreCommand struct {
	backupSettings
	Name    string `arg:"" optional:"" help:"Name of the backup; the last one by default."`
	From    string `help:"Folder of the backups; by default backups in the data folder." type:"path"`
	Replace bool   `help:"Delete everything in the database first. No server may be running."`

	SkipDamaged bool `help:"Leave out files whose checksum is wrong, instead of restoring nothing."`
}

// Run restores a backup.
func (c *backupRestoreCommand) Run(out io.Writer) error {
	return c.withStore(func(ctx context.Context, store backup.Store) error {
		if c.From != "" {
			store.Folder = c.From
		}
		defer shownProgress("restoring", &store)()
		restored, err := store.Restore(ctx, c.Name, c.Replace, c.SkipDamaged)
		if errors.Is(err, backup.ErrNotEmpty) {
			return fmt.Errorf("%w: restore into another data folder, or add --replace to lose what is there", err)
		}
		if damaged := new(backup.DamagedError); errors.As(err, &damaged) {
			return fmt.Errorf("%w\nnothing was restored: choose another backup (stoa backup list), or add --skip-damaged to restore"+
				" without these files; a damaged database or list of checksums cannot be skipped", err)
		}
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(out, "Backup %s is restored, as of %s.\n", restored.Name, restored.MadeAt.Format(time.RFC3339))
		return err
	})
}

// backups are those of a running server.
func (p *process) backups() backup.Store {
	return backup.Store{Folder: p.settings.backupsFolder(), Database: p.directURL(), Files: p.files, Version: versionText()}
}

// makeBackup makes a backup for an operator.
func (p *process) makeBackup(ctx context.Context) (*operator.Copy, error) {
	made, err := p.backups().Make(ctx)
	if errors.Is(err, backup.ErrBusy) || errors.Is(err, cluster.ErrNoClient) {
		return nil, fault.Wrap(fault.ServiceUnavailable, err).Say(err.Error())
	}
	if err != nil {
		return nil, err
	}
	p.log.InfoContext(ctx, "backup made", "name", made.Name, "bytes", made.SizeBytes(), "files", made.Files)
	return &operator.Copy{Name: made.Name, Files: made.Files, SizeBytes: made.SizeBytes()}, nil
}

// makeDailyBackup is the periodic job: it verifies a part of the backups and makes the next one.
func (p *process) makeDailyBackup(ctx context.Context) error {
	made, damaged, err := p.backups().Daily(ctx)
	for _, d := range damaged {
		p.log.ErrorContext(ctx, "a file of a backup is damaged", "backup", d.Backup, "path", d.Path, "reason", d.Reason)
	}
	if made != nil {
		p.log.InfoContext(ctx, "backup made", "name", made.Name, "bytes", made.SizeBytes(), "files", made.Files)
	}
	if errors.Is(err, backup.ErrBusy) {
		p.log.InfoContext(ctx, "another process is making the backup")
		return nil
	}
	return err
}
