package testbed

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"

	fusefs "github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
)

// forgetful is a file system over a folder that loses on demand what was not synced, as a disk does that loses power: bytes of a file
// behind what there was at its last fsync, and names that were made or changed in a folder since its last fsync. A removal stays, and
// bytes that were overwritten stay, too; a disk may keep either.
type forgetful struct {
	server *fuse.Server
	// below is the folder that holds the files.
	below string

	mu sync.Mutex
	// synced holds the size at the last fsync of each file that was written to since, by its path.
	synced map[string]int64
	// changes are the names that are not durable yet, oldest first.
	changes []change
}

// change is a name that was made in a folder, and how to take it back.
type change struct {
	folder string
	undo   func() error
}

// mountForgetful mounts one at a folder, which shows what is below.
func mountForgetful(folder, below string) (*forgetful, error) {
	f := &forgetful{below: below, synced: make(map[string]int64)}
	found, err := fusefs.NewLoopbackRoot(below)
	if err != nil {
		return nil, err
	}
	loopback, ok := found.(*fusefs.LoopbackNode)
	if !ok {
		return nil, errors.ErrUnsupported
	}
	root := &forgetfulNode{fusefs.LoopbackNode{RootData: loopback.RootData}, f}
	loopback.RootData.RootNode = root
	f.server, err = fusefs.Mount(folder, root, &fusefs.Options{MountOptions: fuse.MountOptions{
		DirectMountStrict: true, AllowOther: true, FsName: "forgetful", Name: "forgetful",
	}})
	return f, err
}

// wrote notes that a file is about to change.
func (f *forgetful) wrote(path string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, known := f.synced[path]; known {
		return
	}
	size := int64(0)
	if info, err := os.Stat(path); err == nil {
		size = info.Size()
	}
	f.synced[path] = size
}

// named notes that a name was made in a folder.
func (f *forgetful) named(path string, undo func() error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.changes = append(f.changes, change{filepath.Dir(path), undo})
}

// moved notes that a file has another name.
func (f *forgetful) moved(from, to string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.synced, to)
	if size, dirty := f.synced[from]; dirty {
		delete(f.synced, from)
		f.synced[to] = size
	}
}

// durable notes that a file or the names in a folder were synced.
func (f *forgetful) durable(path string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.synced, path)
	left := f.changes[:0]
	for _, c := range f.changes {
		if c.folder != path {
			left = append(left, c)
		}
	}
	f.changes = left
}

// lose loses what was not synced. No file may be open.
func (f *forgetful) lose() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	var errs []error
	note := func(err error) {
		if !errors.Is(err, fs.ErrNotExist) { // it was removed since
			errs = append(errs, err)
		}
	}
	for path, size := range f.synced {
		note(os.Truncate(path, size))
	}
	for _, c := range slices.Backward(f.changes) {
		note(c.undo())
	}
	f.synced, f.changes = make(map[string]int64), nil
	return errors.Join(errs...)
}

// forgetfulNode is a file or folder of a forgetful file system.
type forgetfulNode struct {
	fusefs.LoopbackNode

	on *forgetful
}

func (n *forgetfulNode) path(name string) string {
	return filepath.Join(n.on.below, n.Path(n.Root()), name)
}

// WrapChild implements fs.NodeWrapChilder: what is below is forgetful, too.
func (n *forgetfulNode) WrapChild(context.Context, fusefs.InodeEmbedder) fusefs.InodeEmbedder {
	return &forgetfulNode{fusefs.LoopbackNode{RootData: n.RootData}, n.on}
}

// Create implements fs.NodeCreater.
func (n *forgetfulNode) Create(ctx context.Context, name string, flags, mode uint32, out *fuse.EntryOut) (
	*fusefs.Inode, fusefs.FileHandle, uint32, syscall.Errno,
) {
	made, handle, fuseFlags, errno := n.LoopbackNode.Create(ctx, name, flags, mode, out)
	if errno != 0 {
		return made, handle, fuseFlags, errno
	}
	path := n.path(name)
	n.on.named(path, func() error { return os.Remove(path) })
	return made, shut(handle), fuseFlags, 0
}

// Open implements fs.NodeOpener.
func (n *forgetfulNode) Open(ctx context.Context, flags uint32) (fusefs.FileHandle, uint32, syscall.Errno) {
	if flags&syscall.O_TRUNC != 0 {
		n.on.wrote(n.path(""))
	}
	handle, fuseFlags, errno := n.LoopbackNode.Open(ctx, flags)
	return shut(handle), fuseFlags, errno
}

// OpendirHandle implements fs.NodeOpendirHandler.
func (n *forgetfulNode) OpendirHandle(ctx context.Context, flags uint32) (fusefs.FileHandle, uint32, syscall.Errno) {
	handle, fuseFlags, errno := n.LoopbackNode.OpendirHandle(ctx, flags)
	if entries, ok := handle.(dirHandle); ok {
		handle = struct{ dirHandle }{entries} // its Fsyncdir would pass by Fsync of the node
	}
	return handle, fuseFlags, errno
}

// Write implements fs.NodeWriter.
func (n *forgetfulNode) Write(ctx context.Context, handle fusefs.FileHandle, data []byte, off int64) (uint32, syscall.Errno) {
	n.on.wrote(n.path(""))
	to, ok := handle.(fusefs.FileWriter)
	if !ok {
		return 0, syscall.EBADF
	}
	return to.Write(ctx, data, off)
}

// Fsync implements fs.NodeFsyncer, for files and folders.
func (n *forgetfulNode) Fsync(context.Context, fusefs.FileHandle, uint32) syscall.Errno {
	n.on.durable(n.path(""))
	return 0
}

// Mkdir implements fs.NodeMkdirer.
func (n *forgetfulNode) Mkdir(ctx context.Context, name string, mode uint32, out *fuse.EntryOut) (*fusefs.Inode, syscall.Errno) {
	made, errno := n.LoopbackNode.Mkdir(ctx, name, mode, out)
	if errno == 0 {
		path := n.path(name)
		n.on.named(path, func() error { return os.RemoveAll(path) })
	}
	return made, errno
}

// Rename implements fs.NodeRenamer. What it replaces comes back with it.
func (n *forgetfulNode) Rename(ctx context.Context, name string, to fusefs.InodeEmbedder, newName string, flags uint32) syscall.Errno {
	parent, ok := to.(*forgetfulNode)
	if !ok {
		return syscall.EXDEV
	}
	from, path := n.path(name), parent.path(newName)
	replaced, unread := os.ReadFile(path)
	errno := n.LoopbackNode.Rename(ctx, name, to, newName, flags)
	if errno != 0 {
		return errno
	}
	n.on.moved(from, path)
	n.on.named(path, func() error {
		err := os.Rename(path, from)
		if unread == nil {
			err = errors.Join(err, os.WriteFile(path, replaced, 0o600)) //nolint:gosec // a file below
		}
		return err
	})
	return 0
}

// fileHandle and dirHandle hold the methods of open files and folders, without those by which the kernel would pass by the nodes.
type (
	fileHandle interface {
		fusefs.FileReader
		fusefs.FileWriter
		fusefs.FileFlusher
		fusefs.FileReleaser
		fusefs.FileGetattrer
		fusefs.FileSetattrer
		fusefs.FileAllocater
		fusefs.FileLseeker
	}
	dirHandle interface {
		fusefs.FileReaddirenter
		fusefs.FileReleasedirer
		fusefs.FileSeekdirer
	}
)

// shut hides what else an open file can do.
func shut(handle fusefs.FileHandle) fusefs.FileHandle {
	if file, ok := handle.(fileHandle); ok {
		return struct{ fileHandle }{file}
	}
	return handle
}
