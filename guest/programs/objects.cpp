// C++: classes, exceptions, containers, strings, streams.
#include <algorithm>
#include <iostream>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

struct Shape {
    virtual ~Shape() = default;
    virtual double area() const = 0;
};
struct Square : Shape {
    double side;
    explicit Square(double s) : side(s) {}
    double area() const override { return side * side; }
};

int main()
{
    std::vector<std::unique_ptr<Shape>> shapes;
    for (int i = 1; i <= 5; i++)
        shapes.push_back(std::make_unique<Square>(i));
    double sum = 0;
    for (const auto &shape : shapes)
        sum += shape->area();
    std::map<std::string, int> words;
    for (const char *word : {"one", "two", "one", "three", "two", "one"})
        words[word]++;
    std::cout << "area " << sum << "\n";
    for (const auto &[word, count] : words)
        std::cout << word << " " << count << "\n";
    try {
        std::vector<int>(3).at(5);
    } catch (const std::out_of_range &) {
        std::cout << "caught\n";
    }
    std::string text = "reverse me";
    std::reverse(text.begin(), text.end());
    std::cout << text << std::endl;
    return 0;
}
