// Command tools packs the artifacts of .ci/package: the Debian package, by nfpm without its packers of other formats, and the
// images, which it also pushes to a registry.
//
//	tools deb nfpm.yaml target.deb
//	tools image root.tar repository version architecture target.tar
//	tools push repository version image.tar…
package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/goreleaser/nfpm/v2"
	"github.com/goreleaser/nfpm/v2/deb"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "tools:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	switch {
	case len(args) == 3 && args[0] == "deb":
		return pack(args[1], args[2])
	case len(args) == 6 && args[0] == "image":
		return image(args[1], args[2], args[3], args[4], args[5])
	case len(args) > 3 && args[0] == "push":
		return push(args[1], args[2], args[3:])
	}
	return errors.New("usage: see the comment of the package")
}

// pack reads a configuration, in which variables of the environment are replaced, and writes the package.
func pack(source, target string) error {
	config, err := nfpm.ParseFile(source)
	if err != nil {
		return err
	}
	info, err := config.Get("deb")
	if err != nil {
		return err
	}
	info = nfpm.WithDefaults(info)
	if err := nfpm.PrepareForPackager(info, "deb"); err != nil {
		return err
	}
	file, err := os.Create(target)
	if err != nil {
		return err
	}
	if err := deb.Default.Package(info, file); err != nil {
		file.Close()
		return err
	}
	return file.Close()
}
