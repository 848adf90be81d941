package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"

	"stoa/cmd/stoa/doctor"
	"stoa/cmd/stoa/doctor/engine"
	"stoa/rest"
)

// doctorCommand checks a server's descriptions of itself (§9), or tries on a database the features that Stoa needs.
type doctorCommand struct {
	URL            string `default:"http://127.0.0.1:8080" help:"Origin of the running server."`
	Database       string `env:"-" placeholder:"URL" help:"Try each feature that Stoa rests on against this database instead, in a schema that is dropped again."`
	DatabaseDirect string `env:"-" placeholder:"URL" help:"With --database: the same database without the pooler, for the features that need a session."`
	DatabaseSpread string `env:"-" placeholder:"SQL" help:"With --database: a statement that distributes a new table %s, for engines that need one; each table has a column id."`
	JSON           bool   `env:"-" name:"json" help:"With --database: print the checks as JSON."`
}

func (c doctorCommand) Validate() error {
	if !baseURL.MatchString(c.URL) {
		return fmt.Errorf("--url must be an origin such as https://stoa.example, without a path, not %q", c.URL)
	}
	if c.Database == "" && (c.DatabaseDirect != "" || c.DatabaseSpread != "" || c.JSON) {
		return errors.New("--database is missing: --database-direct, --database-spread and --json belong to it")
	}
	return errors.Join(checkDatabaseURL("database", c.Database), checkDatabaseURL("database-direct", c.DatabaseDirect))
}

// Run returns an error if a check fails.
func (c doctorCommand) Run(out io.Writer) error {
	if c.Database == "" {
		return doctor.Examine(context.Background(), c.URL, out)
	}
	ctx := contextUntilSignal(slog.New(slog.DiscardHandler))
	report, err := engine.Examine(ctx, engine.Config{
		Address: spreadHosts(c.Database), Direct: spreadHosts(c.DatabaseDirect), Spread: c.DatabaseSpread,
	})
	if len(report.Results) == 0 {
		return explainDatabaseError(err)
	}
	if c.JSON {
		err = errors.Join(err, report.PrintJSON(out))
	} else {
		report.Print(out)
	}
	return errors.Join(err, report.Err())
}

// openapiCommand prints the description of the API without a server or a database.
type openapiCommand struct {
	Format  string `default:"yaml" enum:"yaml,json" help:"yaml or json."`
	BaseURL string `default:"http://127.0.0.1:8080" help:"Origin of the server that is described."`
}

// Validate implements kong's validation: the base URL must be an origin.
func (c openapiCommand) Validate() error { return checkBaseURL(c.BaseURL) }

// Run prints the description that /api/v1/openapi.json serves (§9).
func (c openapiCommand) Run(out io.Writer) error {
	text := rest.OpenAPIYAML(c.BaseURL)
	if c.Format == "json" {
		var err error
		if text, err = rest.OpenAPI(c.BaseURL); err != nil {
			return err
		}
		text = append(text, '\n')
	}
	_, err := out.Write(text)
	return err
}
