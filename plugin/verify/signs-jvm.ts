import type { Sign } from './detect-signs.ts';

const GRADLE = ['build.gradle', 'build.gradle.kts', 'settings.gradle', 'settings.gradle.kts'];

/** Java, Kotlin, Scala, Clojure and .NET. A wrapper checked in with the project pins the version it needs. */
export const JVM_SIGNS: readonly Sign[] = [
  {
    runner: 'gradle',
    ecosystem: 'jvm',
    marks: GRADLE,
    wrapper: ['gradlew'],
    program: ['gradle'],
    argv: ['test'],
    certainty: 'exact',
    reason: 'a Gradle build',
  },
  {
    runner: 'maven-surefire',
    ecosystem: 'jvm',
    marks: ['pom.xml'],
    wrapper: ['mvnw'],
    program: ['mvn'],
    argv: ['-B', 'test'],
    certainty: 'exact',
    reason: 'a Maven project',
  },
  {
    runner: 'scalatest',
    ecosystem: 'jvm',
    marks: ['build.sbt'],
    program: ['sbt', '-no-colors'],
    argv: [],
    everything: ['test'],
    certainty: 'exact',
    reason: 'an sbt build',
  },
  {
    runner: 'scalatest',
    ecosystem: 'jvm',
    marks: ['build.sc', 'build.mill'],
    wrapper: ['mill'],
    program: ['mill'],
    argv: ['__.test'],
    certainty: 'exact',
    reason: 'a Mill build',
  },
  {
    runner: 'clojure-test',
    ecosystem: 'jvm',
    marks: ['project.clj'],
    program: ['lein'],
    argv: ['test'],
    certainty: 'exact',
    reason: 'a Leiningen project',
  },
  {
    runner: 'dotnet-test',
    ecosystem: 'dotnet',
    marks: [/\.slnx?$/, /\.(cs|fs|vb)proj$/],
    program: ['dotnet'],
    argv: ['test'],
    certainty: 'exact',
    reason: 'a .NET project',
  },
];
