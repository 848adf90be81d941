package backup

import (
	"context"
	"encoding/json"
	"errors"
	"hash/fnv"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
)

const (
	// verificationFile is in the folder of the backups and keeps the results of verification.
	verificationFile = "verification.json"
	// parts is into how many parts the files are divided by their paths. Daily verifies one of them in every backup, so all
	// files are read within a week, which is as long as a backup is kept.
	parts = 7
)

// Damage is a damaged file of a backup.
type Damage struct {
	// Backup is the name of the backup, Path the file's below its folder.
	Backup string `json:"backup"`
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

// verification is the result that verificationFile keeps.
type verification struct {
	NextPart int      `json:"next_part"`
	Damaged  []Damage `json:"damaged"`
}

func (s Store) readVerification() (verification, error) {
	var v verification
	text, err := os.ReadFile(filepath.Join(s.Folder, verificationFile))
	if errors.Is(err, fs.ErrNotExist) {
		return v, nil
	}
	if err != nil {
		return v, err
	}
	if json.Unmarshal(text, &v) != nil || v.NextPart < 0 || v.NextPart >= parts {
		return verification{}, nil //nolint:nilerr // a damaged record is made anew within a week
	}
	return v, nil
}

func (s Store) writeVerification(v verification) error {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	path := filepath.Join(s.Folder, verificationFile)
	if err := os.WriteFile(path+".new", append(text, '\n'), 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// Damaged returns the damaged files that verification has found in the backups that still exist.
func (s Store) Damaged() ([]Damage, error) {
	v, err := s.readVerification()
	if err != nil {
		return nil, err
	}
	all, err := s.List()
	return slices.DeleteFunc(v.Damaged, func(d Damage) bool {
		return !slices.ContainsFunc(all, func(m Manifest) bool { return m.Name == d.Backup })
	}), err
}

// Verify reads all files of a backup, or of every one where name is empty, and returns those that are damaged.
func (s Store) Verify(ctx context.Context, name string) ([]Damage, error) {
	unlock, err := s.lock()
	if err != nil {
		return nil, err
	}
	defer unlock()
	all, err := s.List()
	if err != nil {
		return nil, err
	}
	if name != "" {
		m, err := s.find(name)
		if err != nil {
			return nil, err
		}
		all = []Manifest{m}
	}
	return s.verify(ctx, all, func(string) bool { return true })
}

// verifyDailyPart verifies the next seventh of the files of all backups and returns those that are damaged.
func (s Store) verifyDailyPart(ctx context.Context) ([]Damage, error) {
	unlock, err := s.lock()
	if err != nil {
		return nil, err
	}
	defer unlock()
	all, err := s.List()
	if err != nil {
		return nil, err
	}
	v, err := s.readVerification()
	if err != nil {
		return nil, err
	}
	found, err := s.verify(ctx, all, func(path string) bool { return partOf(path) == v.NextPart })
	if err != nil {
		return nil, err
	}
	if v, err = s.readVerification(); err != nil {
		return nil, err
	}
	v.NextPart = (v.NextPart + 1) % parts
	return found, s.writeVerification(v)
}

// partOf divides files by their paths, so files that backups share are in the same part. Databases are verified each time.
func partOf(path string) int {
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(path)) // it never fails
	return int(sum.Sum32() % parts)
}

// verify reads the chosen files of these backups and stores which are damaged. A file that several backups share is read once.
func (s Store) verify(ctx context.Context, all []Manifest, chosen func(path string) bool) ([]Damage, error) {
	v, err := s.readVerification()
	if err != nil {
		return nil, err
	}
	var found []Damage
	read := make(map[uint64]string) // the checksum of each inode
	for _, m := range all {
		sums, damaged := s.checksumsOf(m)
		found = append(found, damaged...)
		for path, sum := range sums {
			if path != databaseFile && !chosen(path) {
				continue
			}
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			file := filepath.Join(s.Folder, m.Name, filepath.FromSlash(path))
			if reason := mismatch(file, sum, read); reason != "" {
				found = append(found, Damage{m.Name, path, reason})
			}
			if info, err := os.Lstat(file); err == nil {
				s.progress(info.Size())
			}
		}
	}
	v.Damaged = slices.DeleteFunc(v.Damaged, func(d Damage) bool {
		m := slices.IndexFunc(all, func(m Manifest) bool { return m.Name == d.Backup })
		return m >= 0 && (d.Path == databaseFile || d.Path == checksumsFile || chosen(d.Path)) // it was verified again just now
	})
	v.Damaged = append(v.Damaged, found...)
	return found, s.writeVerification(v)
}

// sumsOf returns the checksums of a backup. Those that an earlier version made have one of the database only.
func (s Store) checksumsOf(m Manifest) (checksums, []Damage) {
	if m.ChecksumsSHA256 == "" {
		return checksums{databaseFile: m.DatabaseSHA256}, nil
	}
	sums, err := m.readChecksums(filepath.Join(s.Folder, m.Name))
	if err != nil {
		return nil, []Damage{{m.Name, checksumsFile, err.Error()}}
	}
	return sums, nil
}

// mismatch returns how a file differs from its checksum, or "" if it does not. read holds the checksums of inodes that were read.
func mismatch(path, want string, read map[uint64]string) string {
	info, err := os.Lstat(path)
	if err != nil {
		return "it is missing: " + err.Error()
	}
	inode, known := uint64(0), ""
	if stat, ok := info.Sys().(*syscall.Stat_t); ok && stat.Nlink > 1 {
		inode, known = stat.Ino, read[stat.Ino]
	}
	if known == "" {
		if _, known, err = digest(path); err != nil {
			return "it cannot be read: " + err.Error()
		}
		if inode != 0 {
			read[inode] = known
		}
	}
	if known != want {
		return "its checksum is " + known + " instead of " + want
	}
	return ""
}
