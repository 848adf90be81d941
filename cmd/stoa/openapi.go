package main

import (
	"io"

	"stoa/rest"
)

// openapiCommand is for tools that read the description of the API; it needs neither server nor database.
type openapiCommand struct {
	Format  string `default:"yaml" enum:"yaml,json" help:"yaml or json."`
	BaseURL string `default:"http://127.0.0.1:8080" help:"Origin of the server that is described."`
}

// Validate refuses what is no origin.
func (c openapiCommand) Validate() error { return checkBaseURL(c.BaseURL) }

// Run prints what /api/v1/openapi.json serves.
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
