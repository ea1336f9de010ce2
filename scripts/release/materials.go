package main

import (
	"debug/buildinfo"
	"fmt"
	"os"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// materials writes the bill of materials of a binary, in the form of CycloneDX: the modules and the toolchain that it says
// it was made of, with the checksums of go.sum.
func (r *release) materials(binary, out string) error {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return fmt.Errorf("what %s is made of: %w", binary, err)
	}
	component := func(path, version, sum string) cdx.Component {
		c := cdx.Component{Type: cdx.ComponentTypeLibrary, Name: path, Version: version, PackageURL: "pkg:golang/" + path + "@" + version}
		c.BOMRef = c.PackageURL
		if sum != "" {
			c.Properties = &[]cdx.Property{{Name: "go:sum", Value: sum}}
		}
		return c
	}
	main := component(info.Main.Path, r.version, "")
	main.Type = cdx.ComponentTypeApplication
	parts := []cdx.Component{component("std", info.GoVersion[len("go"):], "")}
	for _, m := range info.Deps {
		version := m.Version
		if m.Replace != nil { // a module of this project
			version = r.version
		}
		parts = append(parts, component(m.Path, version, m.Sum))
	}
	var needs []string
	for _, p := range parts {
		needs = append(needs, p.BOMRef)
	}
	bom := cdx.NewBOM()
	bom.Metadata = &cdx.Metadata{Component: &main, Timestamp: r.time.Format("2006-01-02T15:04:05Z07:00")}
	bom.Components = &parts
	bom.Dependencies = &[]cdx.Dependency{{Ref: main.BOMRef, Dependencies: &needs}}
	f, err := os.Create(out)
	if err != nil {
		return err
	}
	err = cdx.NewBOMEncoder(f, cdx.BOMFileFormatJSON).SetPretty(true).Encode(bom)
	if closed := f.Close(); err == nil {
		err = closed
	}
	return err
}
