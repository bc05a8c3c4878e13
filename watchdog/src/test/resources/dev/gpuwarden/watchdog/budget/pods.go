// Writes pods.tsv: pods, and what the scheduler's own code charges for them.
//
//	cp pods.go /tmp/pods/main.go && cd /tmp/pods
//	go mod init pods && go get k8s.io/component-helpers@v0.36.3 k8s.io/api@v0.36.3 && go mod tidy && go run . > pods.tsv
//
// A row is containers, tab, overhead, tab, charge. A container is its kind, a colon and its quantity; a minus is no quantity.
package main

import (
	"fmt"
	"math/rand"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	helpers "k8s.io/component-helpers/resource"
)

const (
	rows = 1000
	name = v1.ResourceName("gpuwarden.dev/vram-mib")
)

func main() {
	random := rand.New(rand.NewSource(20260602))
	for i := 0; i < rows; i++ {
		pod := &v1.Pod{}
		containers := []string{}
		for j := random.Intn(5); j > 0; j-- {
			kind := []string{"INIT", "SIDECAR"}[random.Intn(2)]
			text := quantity(random)
			container := v1.Container{Name: fmt.Sprint("i", j), Resources: resources(text)}
			if kind == "SIDECAR" {
				always := v1.ContainerRestartPolicyAlways
				container.RestartPolicy = &always
			}
			pod.Spec.InitContainers = append(pod.Spec.InitContainers, container)
			containers = append(containers, kind+":"+text)
		}
		for j := random.Intn(4); j >= 0; j-- {
			text := quantity(random)
			pod.Spec.Containers = append(pod.Spec.Containers, v1.Container{Name: fmt.Sprint("c", j), Resources: resources(text)})
			containers = append(containers, "MAIN:"+text)
		}
		overhead := "-"
		if random.Intn(5) == 0 {
			overhead = quantity(random)
			pod.Spec.Overhead = resources(overhead).Requests
		}
		charge := helpers.PodRequests(pod, helpers.PodResourcesOptions{})[name]
		fmt.Printf("%s\t%s\t%d\n", strings.Join(containers, ","), overhead, charge.Value())
	}
}

func quantity(random *rand.Rand) string {
	texts := []string{"-", "-", "0", "16", "100", "1e3", "1500", "3k", "3000", "4Ki", "5k", "7000000m", "8E3", "14000"}
	return texts[random.Intn(len(texts))]
}

func resources(text string) v1.ResourceRequirements {
	if text == "-" {
		return v1.ResourceRequirements{}
	}
	list := v1.ResourceList{name: resource.MustParse(text)}
	return v1.ResourceRequirements{Requests: list, Limits: list}
}
